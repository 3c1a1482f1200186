"""Figures for papers: their size in the file, their fonts, names and order of their series."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import zlib

import pytest
from matplotlib.colors import to_rgba
from matplotlib.container import BarContainer

import cwndlab
from cwndlab import plots
from cwndlab.live_runs.ensemble import Ensemble
from cwndlab.live_runs.result import LiveResult
from cwndlab.plots.style import FORMATS, LOOKS, REFERENCE
from cwndlab.statistics import Estimate
from small_sweeps import small_sweep
from waiting import HANG_S

POINTS = 72
TRACE = {"cwnd": "100ms", "queue": "100ms", "rate": "500ms"}
RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)", "CUBIC"]
COMPARE = ["compare", *RULES, "--duration", "5s", "--replicates", "2"]


@pytest.fixture(scope="module")
def result():
    from conftest import SMALL

    return cwndlab.run(cwndlab.Scenario.from_text(SMALL).set("trace", TRACE))


@pytest.fixture(scope="module")
def comparison():
    return cwndlab.compare(RULES, env=["constant", "square"], replicates=2, duration="5s")


def _size_points(data: bytes, ending: str) -> tuple[float, float]:
    """Width and height of a file's picture as the format states them."""
    if ending == "pdf":
        box = re.search(rb"/MediaBox \[ *([\d. ]+)\]", data)[1].split()
        return float(box[2]), float(box[3])
    if ending == "svg":
        found = re.search(rb'<svg[^>]* width="([\d.]+)pt"', data)
        return float(found[1]), float(re.search(rb'<svg[^>]* height="([\d.]+)pt"', data)[1])
    width, height = struct.unpack(">II", data[16:24])
    at = data.index(b"pHYs") + 4
    per_metre = struct.unpack(">I", data[at : at + 4])[0]
    return tuple(pixels / per_metre / 0.0254 * POINTS for pixels in (width, height))


def _inflated(pdf: bytes) -> bytes:
    """A PDF file with its compressed streams in clear."""
    streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    clear = []
    for stream in streams:
        try:
            clear.append(zlib.decompressobj().decompress(stream))
        except zlib.error:
            continue
    return pdf + b"\n".join(clear)


@pytest.mark.slow
@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize(
    ("width", "points"), [("column", 252.0), ("page", 515.52), ("88mm", 249.45), (4, 288.0)]
)
def test_the_file_has_the_width_asked(comparison, tmp_path, ending, width, points):
    figure = comparison.plot(width=width, style="paper")
    data = plots.save(figure, tmp_path / f"x.{ending}").read_bytes()
    assert _size_points(data, ending)[0] == pytest.approx(points, abs=0.3)


def test_the_file_has_the_height_asked(result, tmp_path):
    figure = result.plot(width="page", height="12cm", style="paper")
    size = _size_points(plots.save(figure, tmp_path / "x.pdf").read_bytes(), "pdf")
    assert size == pytest.approx((7.16 * POINTS, 12 / 2.54 * POINTS), abs=0.1)


def test_without_options_nothing_changes(comparison):
    assert comparison.plot().get_size_inches().tolist() == [7.5, 2.1 * 4]
    usual = plots.png_bytes(plots.comparison_bars(comparison))
    assert plots.png_bytes(comparison.plot(style="screen")) == usual
    assert plots.png_bytes(comparison.plot(labels={}, order=[])) == usual


@pytest.mark.parametrize("style", ["paper", "slides", "screen"])
def test_pdf_has_truetype_fonts(result, tmp_path, style):
    pdf = _inflated(plots.save(result.plot(style=style), tmp_path / "x.pdf").read_bytes())
    assert b"/Type3" not in pdf
    assert b"/FontFile2" in pdf
    assert b"/CIDFontType2" in pdf


def test_svg_has_text_with_fonts_to_fall_back_on(result, tmp_path):
    svg = plots.save(result.plot(style="paper"), tmp_path / "x.svg").read_text()
    style = re.search(r'<text style="([^"]*)"[^>]*>window \[packets\]</text>', svg)[1]
    assert "font-size: 8px" in style
    assert re.search(r"font-family: 'DejaVu Sans', [^;]*, sans-serif", style)


def test_svg_within_html_is_drawn(result):
    assert "<text" not in plots.svg_text(result.plot())


@pytest.mark.slow
@pytest.mark.parametrize("ending", FORMATS)
def test_the_same_figure_has_the_same_bytes(comparison, tmp_path, ending):
    first, second = (
        plots.save(comparison.plot(width="column", style="paper"), tmp_path / f"{name}.{ending}")
        for name in "ab"
    )
    assert first.read_bytes() == second.read_bytes()


def _texts(figure):
    """All texts that a figure shows, laid out."""
    figure.draw_without_rendering()
    found = [*figure.texts]
    for legend in [*figure.legends, *(axes.get_legend() for axes in figure.axes)]:
        found += legend.get_texts() if legend else []
    for axes in figure.axes:
        found += [axes._left_title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            ticks = axis.get_major_ticks()
            seen = [tick for tick in ticks if min(limits) <= tick.get_loc() <= max(limits)]
            found += [tick.label1 for tick in seen]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


FIGURES = ("run", "compare", "by rule", "beside", "waveform")


def _as_live(result):
    """A "live" run beside simulated ones; it is in truth one more of them."""
    live = LiveResult(
        {**result.fields, "valid": True, "reasons": []}, result.flows, result.links,
        traces=result.traces, scenario=result.scenario,
    )  # fmt: skip
    live.simulated = Ensemble.run(cwndlab.Scenario.from_dict(result.scenario), 3)
    return live


def _figure(name, result, comparison, **style):
    """One of the figures, in a style."""
    wave = {"kind": "saw-tooth", "low": 1e6, "high": 2e6, "period": 5.0}
    draws = {
        "run": (plots.overview, result),
        "compare": (plots.comparison_bars, comparison),
        "by rule": (plots.windows_by_rule, {"one": result, "two": result}),
        "beside": (plots.beside, _as_live(result)),
        "waveform": (
            plots.waveform,
            wave,
            {"CUBIC": Estimate(0.9, 0.8, 0.95, 3), "AIAD(1, 3)": Estimate(0.8, None, None, 1)},
        ),
    }
    return plots.FigureStyle.of(**style).draw(*draws[name])


@pytest.mark.slow
@pytest.mark.parametrize("style", ["paper", "slides"])
@pytest.mark.parametrize("name", FIGURES)
def test_nothing_is_clipped_and_text_has_its_size(result, comparison, name, style):
    figure = _figure(name, result, comparison, style=style)
    whole, (least, most) = figure.bbox, {"paper": (7, 8), "slides": (15, 18)}[style]
    for text in _texts(figure):
        box = text.get_window_extent()
        assert min(box.x0, box.y0) >= -1, text.get_text()
        assert box.x1 <= whole.x1 + 1, text.get_text()
        assert box.y1 <= whole.y1 + 1, text.get_text()
        assert least <= text.get_fontsize() <= most, text.get_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_no_texts_overlap(result, comparison, name):
    figure = _figure(name, result, comparison, width="column", style="paper")
    boxes = [(text.get_text(), text.get_window_extent()) for text in _texts(figure)]
    for index, (first, box) in enumerate(boxes):
        for second, other in boxes[:index]:
            across = min(box.x1, other.x1) - max(box.x0, other.x0)
            along = min(box.y1, other.y1) - max(box.y0, other.y0)
            # Boxes include the space for letters with descenders.
            assert min(across, along) < 3, (first, second)


def test_panels_are_below_each_other_in_a_column_and_keep_their_labels():
    values = {"constant": ([0.1, 0.9], [3.0, 0.1])}
    draw = plots.FigureStyle.of(width="column", style="paper").draw
    from cwndlab.plots import theory

    figure = draw(theory.friendly, 0.5, values, values, values)
    assert len({axes.get_position().x0 for axes in figure.axes}) == 1
    assert [axes.get_title("left") for axes in figure.axes] == [
        "Which alpha gets TCP's rate?", "What each gets at beta 0.5",
        "Error of an alpha at beta 0.5",
    ]  # fmt: skip


def _legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_labels_replace_names(comparison):
    figure = comparison.plot(labels={"AIMD(1,0.5)": "Reno", "square": "waves"})
    assert _legend(figure) == ["Reno", "AIAD(1, 3)", "CUBIC"]
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["constant", "waves"]


def test_labels_of_runs_name_flows_or_rules(result):
    figure = result.plot(labels={"AIMD(1, 0.5)": "Reno", "b: AIAD(1, 3)": "Mine"})
    labels = [line.get_label() for line in figure.axes[0].get_lines()]
    assert labels == ["a-0: Reno", "a-1: Reno", "Mine"]


def test_order_and_its_looks(comparison):
    figure = comparison.plot(order=["CUBIC", "AIAD(1,3)"])
    assert _legend(figure) == ["CUBIC", "AIAD(1, 3)", "AIMD(1, 0.5)"]


def test_order_of_flows(result):
    lines = result.plot(order=["b"]).axes[0].get_lines()
    assert lines[0].get_label() == "b: AIAD(1, 3)"
    assert lines[0].get_color() == LOOKS[0].color


def test_baseline_is_first_and_black(comparison):
    figure = comparison.plot(baseline="AIAD(1, 3)", order=["CUBIC"])
    assert _legend(figure) == ["AIAD(1, 3)", "CUBIC", "AIMD(1, 0.5)"]
    bars = [one for one in figure.axes[2].containers if isinstance(one, BarContainer)]
    assert [bar.patches[0].get_facecolor() for bar in bars] == [
        to_rgba(color) for color in (REFERENCE, LOOKS[0].color, LOOKS[1].color)
    ]


def test_sweeps_have_the_same_words():
    found = small_sweep().run()
    labels = {"AIMD(1, 0.5)": "Reno", "dumbbell.queue.limit": "buffer"}
    figure = found.plot(width="column", style="paper", labels=labels)
    assert figure.get_figwidth() == 3.5
    assert "Reno" in _legend(figure)
    assert figure.axes[-1].get_xlabel() == "buffer"


@pytest.mark.parametrize(
    ("style", "message"),
    [
        (
            {"width": "0in"},
            r'width: "0in" is not valid: expected column, page or a length from 1in',
        ),
        ({"width": "nan"}, r'width: "nan" is not valid'),
        ({"height": "column"}, r'height: "column" is not valid: expected a length'),
        ({"height": "1in"}, r'height: "1in" is not valid: expected more room for 4 panels'),
        ({"style": "papr"}, r'style: "papr" is not known: expected paper, slides or screen '),
        ({"labels": {"CUBI": "x"}}, r'labels: "CUBI" is not known: .*\(did you mean CUBIC\?\)'),
        ({"order": ["Reno"]}, r'order: "Reno" is not known: expected AIMD\(1, 0.5\), '),
        ({"order": ["square"]}, r'order: "square" is not known'),
        ({"baseline": "Reno"}, r'baseline: "Reno" is not known'),
    ],
)
def test_nonsense_is_refused(comparison, style, message):
    with pytest.raises(plots.FigureStyleError, match=message):
        comparison.plot(**style)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plot", "x.pdf", "--width", "0in"], '--width: "0in" is not valid: expected column, '),
        (["--plot", "x.pdf", "--style", "papr"], '--style: "papr" is not known: expected paper, '),
        (["--plot", "x.pdf", "--label", "CUBI=x"], '--label: "CUBI" is not known: expected '),
        (["--plot", "x.pdf", "--label", "CUBIC"], '--label: "CUBIC" is not valid: expected NAME='),
        (["--plot", "x.pdf", "--order", "Reno"], '--order: "Reno" is not known: expected AIMD('),
        (["--plot", "x.pdf", "--order", ","], '--order: "," is not valid: expected names'),
        (["--plot", "x.pdf", "--baseline", "X"], '--baseline: "X" is not known: expected AIMD, '),
        (["--width", "column"], "`--width` needs `--plot`"),
        (["--against", "CUBIC", "--plot", "x.pdf", "--baseline", "CUBIC"], "`--baseline` cannot"),
    ],
)
def test_the_command_line_refuses_before_any_run(cli, tmp_path, options, message):
    done = cli(*COMPARE, *options)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {message}")
    assert done.stdout == ""
    assert not (tmp_path / "x.pdf").exists()


@pytest.mark.slow
def test_the_command_line_takes_every_option(cli, tmp_path):
    options = ["--width", "column", "--height", "6in", "--style", "paper", "--baseline", "CUBIC",
               "--order", "AIAD(1, 3),AIMD(1, 0.5)", "--label", "AIAD(1,3)=Mine"]  # fmt: skip
    assert cli(*COMPARE, "--plot", "x.svg", *options).returncode == 0
    svg = (tmp_path / "x.svg").read_text()
    assert _size_points(svg.encode(), "svg") == (252.0, 432.0)
    places = [svg.index(f">{text}</text>") for text in ("CUBIC", "Mine", "AIMD(1, 0.5)")]
    assert places == sorted(places)


def test_every_command_with_a_plot_has_the_options():
    import click

    from cwndlab.cli.app import app

    def commands(group):
        for command in group.commands.values():
            yield from commands(command) if isinstance(command, click.Group) else [command]

    with_plot = 0
    for command in commands(app):
        options = {name for parameter in command.params for name in parameter.opts}
        if "--plot" in options:
            with_plot += 1
            assert {"--width", "--height", "--style", "--label", "--order"} <= options, command.name
    assert with_plot >= 11


@pytest.mark.slow
def test_a_sweep_refuses_an_unknown_label_before_any_run(cli, sweep_file, tmp_path):
    done = cli("sweep", sweep_file, "--store", "kept", "--plot", "x.pdf", "--label", "CUBIC=Mine")
    assert done.returncode == 2
    assert done.stderr.startswith('error: --label: "CUBIC" is not known: expected rule, ')
    assert not (tmp_path / "kept").exists()


@pytest.mark.slow
def test_titles_have_labels(cli, tmp_path):
    options = ["--width", "88mm", "--style", "paper", "--label", "AIMD(1, 0.5)=Reno"]
    assert cli("theory", "fair", "AIMD(1, 0.5)", "--plot", "x.svg", *options).returncode == 0
    assert ">Reno: " in (tmp_path / "x.svg").read_text()


DOCUMENT = r"""
\documentclass[twocolumn]{article}
\usepackage{booktabs, graphicx}
\begin{document}
\begin{figure}
  \includegraphics{figure.pdf}
\end{figure}
\begin{table*}
  \input{table.tex}
\end{table*}
\end{document}
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(shutil.which, ("pdflatex", "pdffonts"))),
    reason="pdflatex (Debian packages texlive-latex-base, texlive-latex-recommended) or pdffonts "
    "(poppler-utils) is not installed",
)
def test_latex_compiles_a_figure_and_a_table_without_type_3_fonts(cli, tmp_path):
    style = ["--width", "column", "--style", "paper", "--label", "CUBIC=CUBIC $\\beta$"]
    done = cli(*COMPARE, "--plot", "figure.pdf", *style, "--format", "latex")
    assert done.returncode == 0, done.stderr
    (tmp_path / "table.tex").write_text(done.stdout, encoding="utf-8")
    (tmp_path / "paper.tex").write_text(DOCUMENT, encoding="utf-8")

    def call(*command: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_S, check=False
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    call("pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex")
    fonts = call("pdffonts", "paper.pdf").splitlines()[2:]
    assert any("TrueType" in font for font in fonts), fonts
    assert any("Type 1" in font for font in fonts), fonts
    assert not any("Type 3" in font for font in fonts), fonts
