"""CUBIC beside Reno: its share, and the harm that it does."""

import cwndlab

result = cwndlab.against(
    "CUBIC",
    "AIMD(1, 0.5)",
    flows=[1, 4],
    queue=["drop-tail", "fq-codel"],
    replicates=3,
    duration="40s",
)
figure = result.plot()
