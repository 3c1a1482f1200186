"""Kernels in virtual time that this user has built: user-mode Linux with time travel."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cwndlab.errors import LiveError
from cwndlab.message import unknown

DEFAULT = "default"
"""Name of the kernel that runs take where none is named."""
_ABOUT, BINARY = "kernel.json", "linux"


@dataclass(frozen=True)
class Kernel:
    """A kernel in virtual time.

    Attributes
    ----------
    name : str
        Its name among this user's kernels.
    release : str
        What ``uname -r`` says in it.
    hz : int
        Its timer interrupts per second (CONFIG_HZ).
    congestion_controls : tuple of str
        The rules that it has as ``kernel:NAME``.
    identity : str
        Hash of what decides its packets: sources of its network, configuration, edits. Compilers
        are not part of it.
    source : str
        What it was built from.
    """

    name: str
    release: str
    hz: int
    congestion_controls: tuple[str, ...]
    identity: str
    source: str

    @property
    def binary(self) -> Path:
        """Its program."""
        return folder() / self.name / BINARY

    def save(self) -> None:
        """Write what is known of it beside its program."""
        text = json.dumps(asdict(self), indent=2) + "\n"
        (folder() / self.name / _ABOUT).write_text(text, encoding="utf-8")


def cache() -> Path:
    """Directory of what can be built again: ``~/.cache/cwndlab``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cwndlab"


def folder() -> Path:
    """Directory of the kernels."""
    return cache() / "kernels"


def installed() -> list[Kernel]:
    """Kernels that this user has built, by name."""
    found = [_read(path) for path in sorted(folder().glob(f"*/{_ABOUT}"))]
    return [kernel for kernel in found if kernel.binary.is_file()]


def find(name: str | None = None) -> Kernel:
    """Return a kernel by name; without a name the default, or the only one.

    Raises
    ------
    LiveError
        If there is no such kernel, or no kernel at all.
    """
    check_machine()
    kernels = {kernel.name: kernel for kernel in installed()}
    if not kernels:
        raise LiveError(
            "no kernel in virtual time is built; run `cwndlab virtual-kernel build` (10 minutes "
            "once, no root)"
        )
    if name is None and DEFAULT not in kernels and len(kernels) > 1:
        raise LiveError(
            f"kernel: none is called {DEFAULT}: name one of {', '.join(kernels)}, such as "
            f"`--home linux:{next(iter(kernels))}` or `--kernel {next(iter(kernels))}`"
        )
    if name is None:
        name = DEFAULT if DEFAULT in kernels else next(iter(kernels))
    if name not in kernels:
        raise LiveError(unknown("kernel", name, list(kernels)))
    return kernels[name]


def check_machine() -> None:
    """Refuse machines that user-mode Linux does not run on.

    Raises
    ------
    LiveError
        If this is not Linux on x86-64.
    """
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise LiveError(
            f"kernels in virtual time run on Linux on x86-64, and this is {platform.system()} on "
            f"{platform.machine()}"
        )


def _read(path: Path) -> Kernel:
    about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    about["congestion_controls"] = tuple(about["congestion_controls"])
    return Kernel(**about)
