"""Three rules over five sizes of the buffer and two delays, five seeds each."""

import cwndlab

result = cwndlab.sweep("examples/sweep-buffers.toml")
figure = result.plot()
