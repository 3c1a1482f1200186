"""Builds a kernel in virtual time, user-mode Linux with time travel, from a source of Linux."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections import deque
from pathlib import Path
from typing import Any

from cwndlab.errors import LiveError
from cwndlab.kernel_runs import kernels, program, source_tree
from cwndlab.kernel_runs.kernels import Kernel
from cwndlab.kernel_runs.protocol import exchange
from cwndlab.kernel_runs.source_tree import PACKAGES, Progress
from cwndlab.message import invalid

ADDITIONS = Path(__file__).resolve().parent / "_user_mode"
"""What is added to a kernel besides rules: its configuration, and keys of random numbers."""
TOOLS = ("make", "gcc", "flex", "bison", "bc", "tar", "xz")
# Without the date and the user of the build, one source gives one binary.
_REPRODUCIBLE = (
    "KBUILD_BUILD_TIMESTAMP=@0",
    "KBUILD_BUILD_USER=cwndlab",
    "KBUILD_BUILD_HOST=cwndlab",
    "KBUILD_BUILD_VERSION=1",
)
# Of the default configuration; with another there are more or fewer.
_FILES = 700
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")


def build(
    source: Path | None = None,
    *,
    name: str = kernels.DEFAULT,
    config: Path | None = None,
    hz: int = 1000,
    progress: Progress = lambda _step, _done: None,
) -> Kernel:
    """Build a kernel in virtual time into this user's cache.

    A kernel of that name is replaced once the new one has booted; files that have not changed since
    its build are not compiled again.

    Parameters
    ----------
    source : Path, optional
        A tree of Linux, 6.12 or later, or a tarball of one; by default the newest
        ``linux-source-*`` of the distribution.
    name : str
        Its name.
    config : Path, optional
        Lines of a configuration that go before the default ones.
    hz : int
        Timer interrupts per second: 100, 250, 300 or 1000.
    progress : callable
        Gets the step and the number of files that are done.

    Raises
    ------
    LiveError
        If a requirement is missing, the source is none of Linux, or the build fails.
    """
    kernels.check_machine()
    if _NAME.fullmatch(name) is None:
        expected = "a letter, then letters, digits, dots, _ and -"
        raise LiveError(invalid("name", name, expected))
    if absent := absent_tools():
        raise LiveError(
            f"building a kernel needs {', '.join(absent)}: on Debian and Ubuntu, `{PACKAGES}`"
        )
    chosen = source_tree.packaged() if source is None else source.resolve()
    if not chosen.exists():
        raise LiveError(invalid("source", str(chosen), "a tree of Linux, or a tarball of one"))
    tree = kernels.cache() / "build" / name
    if not tree.exists():
        _begin_as_another(tree, chosen, progress)
    tree.mkdir(parents=True, exist_ok=True)
    edits = source_tree.edits(hz)
    if chosen.is_dir():
        source_tree.copy(chosen, tree, edits, progress)
    else:
        source_tree.unpack(chosen, tree, edits, progress)
    _add(tree)
    _configure(tree, config)
    _make(tree, progress)
    return _install(tree, name, hz, str(chosen), progress)


def absent_tools() -> list[str]:
    """Programs that a build needs and that are not there."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def _begin_as_another(tree: Path, source: Path, progress: Progress) -> None:
    """Copy the build of another kernel from the same source: only what differs is compiled."""
    for kernel in kernels.installed():
        other = tree.parent / kernel.name
        if kernel.source == str(source) and other.is_dir():
            progress(f"copying the build of {kernel.name}", 0)
            # No kernel has a name that begins with a dot.
            fresh = tree.with_name(f".{tree.name}")
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.copytree(other, fresh, symlinks=True)
            fresh.replace(tree)
            return


def remove(name: str) -> Path:
    """Remove a kernel and its build; return the folder that it was in.

    Raises
    ------
    LiveError
        If there is no such kernel.
    """
    kernel = kernels.find(name)
    shutil.rmtree(kernels.cache() / "build" / name, ignore_errors=True)
    shutil.rmtree(kernel.binary.parent)
    return kernel.binary.parent


def _add(tree: Path) -> None:
    """Add what a kernel in virtual time has besides its own files."""
    keys = (ADDITIONS / "random_keys.c").read_text()
    source_tree.write(tree / "arch/um/os-Linux/cwndlab_user.c", keys)
    for name, text in program.ask("sources").items():
        source_tree.write(tree / "net/ipv4/cwndlab" / name, text)


def _configure(tree: Path, config: Path | None) -> None:
    lines = (ADDITIONS / "config").read_text()
    if config is not None:
        # The first line of an option counts.
        own = config.read_text()
        options = set(re.findall(r"^(?:# )?(CONFIG_\w+)", own, re.MULTILINE))
        kept = [line for line in lines.splitlines() if line.split("=")[0] not in options]
        lines = own + "\n" + "\n".join(kept) + "\n"
    wanted = tree / ".cwndlab-config"
    before = tree / ".cwndlab-configured"
    kconfig = (tree / "arch/um/Kconfig").read_text()
    if before.is_file() and before.read_text() == lines + kconfig and (tree / ".config").is_file():
        return
    source_tree.write(wanted, lines)
    done = subprocess.run(
        ["make", "ARCH=um", f"KCONFIG_ALLCONFIG={wanted}", "allnoconfig"],
        cwd=tree, capture_output=True, text=True, check=False, env=_environment(),
    )  # fmt: skip
    if done.returncode != 0:
        raise LiveError(f"configuration of the kernel: {_last_error(done.stderr.splitlines())}")
    got = set((tree / ".config").read_text().splitlines())
    refused = [line for line in lines.splitlines() if line.startswith("CONFIG_")
               and line not in got]  # fmt: skip
    if refused:
        raise LiveError(f"configuration of the kernel: it does not accept {', '.join(refused)}")
    before.write_text(lines + kconfig)


def _make(tree: Path, progress: Progress) -> None:
    jobs = len(os.sched_getaffinity(0))
    command = ["make", "ARCH=um", f"-j{jobs}", *_REPRODUCIBLE, "linux"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, cwd=tree, stdout=pipe, stderr=subprocess.STDOUT, text=True, env=_environment(),
        errors="replace", start_new_session=True,
    )  # fmt: skip
    last: deque[str] = deque(maxlen=200)
    compiled = 0
    assert process.stdout is not None, "it was asked for"
    try:
        for line in process.stdout:
            last.append(line.rstrip())
            if line.startswith("  CC"):
                compiled += 1
                progress(f"compiling, about {_FILES} files", compiled)
        code = process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 15)
            process.wait()
        process.stdout.close()
    if code != 0:
        raise LiveError(f"the kernel does not compile: {_last_error(list(last))}")


def _last_error(lines: list[str]) -> str:
    errors = [line for line in lines if "error" in line.lower() and not line.startswith("make")]
    return (errors or lines or ["make said nothing"])[0].strip()


def _environment() -> dict[str, str]:
    """Without variables that steer make, and in the language that messages are read in."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("MAKE", "MFL"))}
    return {**kept, "LC_ALL": "C"}


def _install(tree: Path, name: str, hz: int, source: str, progress: Progress) -> Kernel:
    progress("booting it once", 0)
    folder = kernels.folder() / name
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{kernels.BINARY}.new"
    shutil.copy2(tree / "linux", fresh)
    subprocess.run(["strip", "--strip-debug", str(fresh)], capture_output=True, check=False)
    about = ask(fresh)
    kernel = Kernel(
        name,
        about["release"],
        hz,
        tuple(sorted(about["congestion_controls"])),
        _identity(tree),
        source,
    )
    fresh.replace(folder / kernels.BINARY)
    kernel.save()
    return kernel


def ask(binary: Path) -> dict[str, Any]:
    """Boot a kernel, and return what it says of itself."""
    for event in exchange("virtual", {"kernel": str(binary)}):
        if event["event"] == "answer":
            return event["answer"]
    raise LiveError(f"{binary} booted and printed nothing")


def _identity(tree: Path) -> str:
    """Hash of what decides the packets of a kernel."""
    whole = hashlib.sha256()
    roots = [tree / "net", tree / "include/net", tree / "include/linux"]
    paths = sorted(path for root in roots for path in root.rglob("*.[ch]"))
    edited = [tree / edit.path for edit in source_tree.edits(0)]
    for path in [*paths, *edited, *sorted(ADDITIONS.glob("*.c"))]:
        whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    whole.update(_configuration((tree / ".config").read_text()).encode())
    return whole.hexdigest()[:16]


def _configuration(text: str) -> str:
    """Return a configuration without what tells the compiler."""
    compiler = re.compile(r"CONFIG_(CC|GCC|CLANG|LD|LLD|AS|PAHOLE|RUSTC|TOOLS|HAVE|BINDGEN)_")
    lines = [line for line in text.splitlines() if line.startswith("CONFIG_")]
    return "\n".join(line for line in lines if compiler.match(line) is None)
