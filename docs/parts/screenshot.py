"""Picture of a page on a wide screen and on a phone in the dark: ``screenshot.py PAGE PICTURE``.

Needs chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

WIDE, PHONE, HEIGHT, GAP = 1000, 390, 1000, 30
LEAST_WINDOW = 500
"""Chromium's windows are not narrower."""
COLOURS = 256
NAMES = ("chromium", "chromium-browser", "google-chrome")


def screenshot(page: Path, width: int, folder: Path, *options: str) -> Image.Image:
    """Show a page in a window."""
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        sys.exit(f"{page}: needs a browser: expected {' or '.join(NAMES)} on the PATH")
    picture = folder / f"{width}.png"
    subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         f"--user-data-dir={folder / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND",
         f"--window-size={width},{HEIGHT}", f"--screenshot={picture}", *options, page.as_uri()],
        check=True, capture_output=True,
    )  # fmt: skip
    return Image.open(picture).convert("RGB")


def main() -> None:
    """Put both screenshots beside each other."""
    page, target = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame = folder / "phone.html"
        frame.write_text(
            f'<body style="margin:0"><iframe src="{page.as_uri()}" width="{PHONE}" '
            f'height="{HEIGHT}" style="border:0"></iframe>',
            encoding="utf-8",
        )
        wide = screenshot(page, WIDE, folder)
        dark = screenshot(frame, LEAST_WINDOW, folder, "--blink-settings=preferredColorScheme=0")
    whole = Image.new("RGB", (WIDE + GAP + PHONE, HEIGHT), "#c6c8ce")
    whole.paste(wide, (0, 0))
    whole.paste(dark.crop((0, 0, PHONE, HEIGHT)), (WIDE + GAP, 0))
    whole.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        target, optimize=True
    )


if __name__ == "__main__":
    main()
