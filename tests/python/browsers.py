"""A page in a headless browser, where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from waiting import HANG_S

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
in_a_browser = pytest.mark.skipif(
    BROWSER is None, reason="no chromium: what the page does in a browser is not seen"
)


def browse(html: str, folder: Path, width: int = 390) -> subprocess.CompletedProcess[str]:
    """Open a page, in a window of so many pixels, in a browser that finds no host.

    Standard output is the document, standard error has its console.
    """
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    return subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
         f"--user-data-dir={folder / 'profile'}",
         "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
         f"--window-size={width},800",
         "--virtual-time-budget=2000", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=HANG_S, check=True,
    )  # fmt: skip
