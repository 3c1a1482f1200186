"""AIMD(1, 0.5) written as a class, as simple as it can be.

What a rule in Python costs beside the built-in one.
"""


class Aimd:
    """Adds ``increase`` packets per RTT and cuts the window by ``share`` at a loss (RFC 5681)."""

    def __init__(self, increase: float = 1.0, share: float = 0.5) -> None:
        self.add, self.keep = increase, 1.0 - share

    def increase(self, cwnd: float, _ack) -> float:
        """Window after an acknowledgement."""
        return cwnd + self.add / cwnd

    def decrease(self, cwnd: float, _signal: str) -> float:
        """Window after a congestion signal."""
        return cwnd * self.keep
