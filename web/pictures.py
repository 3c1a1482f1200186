"""Makes small files of screenshots: python pictures.py FOLDER IMAGES.

PNG files get a palette; the frames in FOLDER/drag become one animated WebP.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

FRAME_MS = 180
WIDTH = 640
"""Of the animation, pixels: pictures of the documents are below 150 kB."""

folder, images = map(Path, sys.argv[1:])
for path in sorted(folder.glob("*.png")):
    picture = Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    picture.save(images / path.name, optimize=True)
opened = [Image.open(path).convert("RGB") for path in sorted((folder / "drag").glob("*.png"))[::2]]
frames = [frame.resize((WIDTH, WIDTH * frame.height // frame.width)) for frame in opened]
frames[0].save(
    images / "studio-drag.webp", save_all=True, append_images=frames[1:],
    duration=FRAME_MS, loop=0, quality=35, method=6,
)  # fmt: skip
