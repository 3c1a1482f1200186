"""A window rule in Python: examples/custom-rule.toml uses it, and so does
`cwndlab compare "examples/my_rules.py:Patient(3)" --baseline "AIMD(1, 0.5)"`.
"""


class Patient:
    """Adds a packet per round trip; the n-th loss in a row takes 1/(n + 1) of the window."""

    def __init__(self, most: int = 3) -> None:
        self.most = most
        self.losses = 0

    def increase(self, cwnd: float, ack) -> float:
        if ack.rtt_s <= 1.1 * ack.min_rtt_s:  # The queue is empty again.
            self.losses = 0
        return cwnd + ack.growth_packets / cwnd

    def decrease(self, cwnd: float, signal: str) -> float:
        self.losses = min(self.losses + 1, self.most)
        return cwnd * (1 - 1 / (self.losses + 1))
