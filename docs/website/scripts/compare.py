"""Three rules in two environments, three seeds each."""

import cwndlab

result = cwndlab.compare(
    ["AIMD(1, 0.5)", "AIAD(1, 3)", "MIMD(1.125, 0.8)"],
    env=["constant", "square"],
    replicates=3,
    duration="40s",
)
figure = result.plot()
