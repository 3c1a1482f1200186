"""The page of `cwndlab report` in a browser: no errors, nothing loaded.

Metrics chosen, rules hidden, rows sorted.
"""

from __future__ import annotations

import json
import re

import pytest

from browsers import browse, in_a_browser
from cwndlab import Store, write_report
from cwndlab.sweeps.reading import read_sweep
from small_sweeps import RULES


@pytest.fixture(scope="module")
def html(limits_store) -> str:
    return write_report(limits_store).read_text(encoding="utf-8")


@in_a_browser
def test_opens_without_errors(html, tmp_path):
    assert "CONSOLE" not in browse(html, tmp_path).stderr
    # What would be an error is seen: this one fails, that one asks for a file, and may not.
    for wrong in (
        "<script>nothing.at_all()</script>",
        '<img src="https://example.org/picture.png">',
    ):
        assert "CONSOLE" in browse(html.replace("</body>", f"{wrong}</body>"), tmp_path).stderr


ASK = """<script>
{
const found = {};
const seen = (selector) =>
  [...document.querySelectorAll(selector)].filter((part) => part.getClientRects().length);
const count = (selector) => seen(selector).length;
found.metrics = count("article");
found.width = [document.documentElement.scrollWidth, window.innerWidth];
found.marks = count("article .plot .mark");
document.querySelector('[data-toggle="2"]').click();
found.fewer = count("article .plot .mark");
document.querySelector('[data-toggle="2"]').click();
document.querySelector('[data-show="mean_queueing_delay_s"]').click();
found.shown = seen("article").map((part) => part.dataset.metric);
document.querySelector('[data-show=""]').click();
found.all = count("article");
const mark = document.querySelector("article .mark");
mark.dispatchEvent(new PointerEvent("pointerdown", { clientX: 380, clientY: 5, bubbles: true }));
const tip = document.getElementById("tip");
found.tip = tip.textContent;
found.inside = tip.getBoundingClientRect().right <= window.innerWidth;
const table = document.querySelector("article .sortable");
const head = table.tHead.rows[0].cells[1];
const column = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[1].dataset.value));
head.click(); found.up = column();
head.click(); found.down = column();
const answer = document.createElement("pre");
answer.id = "answer"; answer.textContent = JSON.stringify(found);
document.body.append(answer);
}
</script></body>"""


@in_a_browser
def test_chooses_hides_shows_and_sorts(html, tmp_path, limits_store):
    seen = browse(html.replace("</body>", ASK), tmp_path)
    assert "CONSOLE" not in seen.stderr
    found = json.loads(re.search(r'<pre id="answer">(.*?)</pre>', seen.stdout)[1])
    assert (found["metrics"], found["all"], found["shown"]) == (1, 3, ["mean_queueing_delay_s"])
    # Means of three rules, differences of two; less the third.
    assert (found["marks"], found["fewer"]) == (9 + 6, 6 + 3)
    assert re.match(r"[\d.]+ ± [\d.]+\nAIMD", found["tip"])
    assert found["inside"]
    # Nothing makes the page wider than the screen.
    assert found["width"][0] <= found["width"][1]
    values = read_sweep(Store(limits_store, write=False), "limits").findings.summary.filter(
        metric="goodput", rule=RULES[0]
    )
    assert found["up"] == sorted(values["mean"])
    assert found["down"] == sorted(values["mean"], reverse=True)
