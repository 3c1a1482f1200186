"""Three rules over five sizes of the buffer and two delays, two seeds each."""

import cwndlab

result = cwndlab.sweep("examples/sweep-buffers.toml", replicates=2)
figure = result.plot()
