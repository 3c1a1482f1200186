"""AccECN in whole runs: the sender counts every mark, also where ACKs are delayed or lost."""

from __future__ import annotations

import pytest

import cwndlab

RULE = """
class Counting:
    needs = {"exact_marks"}

    def __init__(self):
        self.counted = 0

    def increase(self, cwnd, ack):
        return cwnd + ack.growth_packets / cwnd

    def decrease(self, cwnd, cause):
        return 0.95 * cwnd

    def on_mark(self, cwnd, ack):
        self.counted += ack.marked_packets
        return True

    def state(self):
        return {"counted": self.counted}
"""


def run(folder, feedback: str, *, ack_loss: float = 0.0, **changes):
    """Run a rule that counts marks over a queue that marks the more the longer it is."""
    (folder / "rules.py").write_text(RULE)
    # Undo would set back the rule, and its count.
    queue = {
        "kind": "red", "limit": "200pkt", "min": "5pkt", "max": "100pkt", "max_p": 1, "weight": 1,
        "wait": False, "ecn": True,
    }  # fmt: skip
    back = {"name": "back", "rate": "20Mbit", "delay": "10ms"}
    if ack_loss:
        back["loss"] = [{"kind": "bernoulli", "p": ack_loss}]
    scenario = {
        "duration": "20s",
        "profile": "linux",
        "tcp": {"ecn": True, "ecn_feedback": feedback, "quick_acks": 0, "undo": False, **changes},
        "links": [{"name": "there", "rate": "20Mbit", "delay": "10ms", "queue": queue}, back],
        "flows": [
            {
                "rule": f"{folder}/rules.py:Counting",
                "path": ["there"],
                "back": ["back"],
                "packets": 20_000,
            }
        ],
        "trace": {"rule": "all"},
    }
    return cwndlab.run(scenario)


def counted_and_marked(result) -> tuple[int, int]:
    """Packets that the rule counted as marked, and those that the queue marked."""
    counted = result.traces["rule"]["counted"].max()
    return int(counted), result.links.filter(link="there")["marked_packets"][0]


@pytest.mark.parametrize("delayed", [False, True])
@pytest.mark.parametrize("ack_loss", [0.0, 0.3, 0.6])
def test_the_sender_counts_every_mark(tmp_path, delayed, ack_loss):
    counted, marked = counted_and_marked(
        run(tmp_path, "accecn", ack_loss=ack_loss, delayed_ack=delayed)
    )
    assert marked > 200
    assert counted == marked
