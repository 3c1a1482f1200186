"""Makes small files of screenshots: python pictures.py FOLDER IMAGES.

PNG files get a palette; the frames in FOLDER/drag become one animated WebP.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

FRAME_MS = 120

folder, images = map(Path, sys.argv[1:])
for path in sorted(folder.glob("*.png")):
    picture = Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    picture.save(images / path.name, optimize=True)
frames = [Image.open(path).convert("RGB") for path in sorted((folder / "drag").glob("*.png"))]
frames[0].save(
    images / "studio-drag.webp", save_all=True, append_images=frames[1:],
    duration=FRAME_MS, loop=0, quality=60, method=6,
)  # fmt: skip
