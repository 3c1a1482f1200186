"""Builds a kernel in virtual time, user-mode Linux with time travel, from a source of Linux.

The source is a distribution's package, a tarball or a tree of the user's own, which stays as it is.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwndlab.errors import LiveError
from cwndlab.kernel_runs import kernels
from cwndlab.kernel_runs.kernels import Kernel
from cwndlab.kernel_runs.protocol import exchange
from cwndlab.message import invalid

ADDITIONS = Path(__file__).resolve().parent / "_user_mode"
"""What is added to a kernel: its configuration, and its entropy."""
PACKAGES = "apt-get install linux-source flex bison bc make gcc"
TOOLS = ("make", "gcc", "flex", "bison", "bc", "tar", "xz")
_PACKAGES_FOLDER = Path("/usr/src")
# A compiler's version, date and user would go into the kernel's name, and so into its entropy.
_REPRODUCIBLE = (
    "KBUILD_BUILD_TIMESTAMP=@0",
    "KBUILD_BUILD_USER=cwndlab",
    "KBUILD_BUILD_HOST=cwndlab",
    "KBUILD_BUILD_VERSION=1",
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")

Progress = Callable[[str, int], None]
"""Gets the step and the number of files that are done."""


@dataclass(frozen=True)
class _Edit:
    """One line of the kernel's that a build changes: the only edits of its sources."""

    path: str
    why: str
    pattern: str
    replacement: str


def _edits(hz: int) -> tuple[_Edit, ...]:
    return (
        _Edit("arch/um/os-Linux/util.c", "entropy from CWNDLAB_SEED instead of the host",
              r"return getrandom\(buf, len, flags\);",
              "extern ssize_t cwndlab_getrandom(void *, size_t, unsigned int);\n\n"
              "\treturn cwndlab_getrandom(buf, len, flags);"),
        _Edit("arch/um/os-Linux/Makefile", "the file with that entropy",
              r"^USER_OBJS := ", "obj-y += cwndlab_user.o\n\nUSER_OBJS := "),
        _Edit("drivers/char/random.c", "no entropy from the names of files of this host",
              r"^\s*_mix_pool_bytes\(command_line, [^\n]*\n", ""),
        _Edit("arch/um/Kconfig", "HZ, which arch/um fixes",
              r"(^config HZ\n[^#]*?default) 100$", rf"\1 {hz}"),
    )  # fmt: skip


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
    chosen = packaged() if source is None else source.resolve()
    if not chosen.exists():
        raise LiveError(invalid("source", str(chosen), "a tree of Linux, or a tarball of one"))
    tree = kernels.cache() / "build" / name
    tree.mkdir(parents=True, exist_ok=True)
    edits = _edits(hz)
    if chosen.is_dir():
        _copy(chosen, tree, edits, progress)
    else:
        _unpack(chosen, tree, edits, progress)
    _configure(tree, config)
    _make(tree, progress)
    return _install(tree, name, hz, str(chosen), progress)


def absent_tools() -> list[str]:
    """Programs that a build needs and that are not there."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def packaged() -> Path:
    """Return the newest source package of this machine.

    Raises
    ------
    LiveError
        If there is none.
    """
    found = sorted(_PACKAGES_FOLDER.glob("linux-source-*.tar.*"), key=_version)
    if not found:
        raise LiveError(
            f"no source of Linux under {_PACKAGES_FOLDER}: on Debian and Ubuntu, `{PACKAGES}`, or "
            "give a tree or tarball with `--source`"
        )
    return found[-1]


def _version(path: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", path.name))


def _check(tree: Path, given: Path) -> None:
    if not (tree / "arch/um/Kconfig").is_file() or not (tree / "net/ipv4/tcp.c").is_file():
        raise LiveError(invalid("source", str(given), "a tree of Linux, or a tarball of one"))


def _files(tree: Path) -> Iterator[Path]:
    """Yield the files of a source without what was built in it, which only git can tell."""
    if (tree / ".git").exists():
        command = ["git", "-C", str(tree), "ls-files", "-z", "-co", "--exclude-standard"]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode != 0:
            raise LiveError(f"source: git cannot list {tree}: {done.stderr.decode().strip()}")
        names = (name for name in done.stdout.decode().split("\0") if name)
        # A submodule, or a clone in the tree, is listed as a folder; a deleted file is listed too.
        yield from (path for name in names if (path := tree / name).is_symlink() or path.is_file())
        return
    if (tree / ".config").exists() or (tree / "include/config").exists():
        raise LiveError(
            f"{tree} holds a build: expected a clean tree (`make mrproper`), or one of git"
        )
    for folder, _, files in os.walk(tree):
        yield from (Path(folder) / name for name in files)


def _copy(source: Path, tree: Path, edits: tuple[_Edit, ...], progress: Progress) -> None:
    """Copy what has changed, and forget what is gone, so that `make` compiles only that."""
    _check(source, source)
    edited = {edit.path for edit in edits}
    present: set[Path] = set()
    for done, path in enumerate(_files(source)):
        relative = path.relative_to(source)
        present.add(relative)
        target = tree / relative
        if str(relative) in edited:
            _write(target, _edited(path.read_text(), str(relative), edits))
        elif path.is_symlink():
            if not target.is_symlink():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(path.readlink())
        elif _differs(path, target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
        if done % 1000 == 0:
            progress("copying the source", done)
    manifest = tree / ".cwndlab-sources"
    if manifest.is_file():
        for line in manifest.read_text().splitlines():
            if Path(line) not in present:
                (tree / line).unlink(missing_ok=True)
    manifest.write_text("".join(f"{path}\n" for path in sorted(present)))


def _differs(path: Path, target: Path) -> bool:
    try:
        there = target.stat()
    except FileNotFoundError:
        return True
    here = path.stat()
    return (here.st_size, here.st_mtime_ns) != (there.st_size, there.st_mtime_ns)


def _unpack(source: Path, tree: Path, edits: tuple[_Edit, ...], progress: Progress) -> None:
    about = source.stat()
    stamp, mark = tree / ".cwndlab-sources", f"{source} {about.st_size} {about.st_mtime_ns}\n"
    if not stamp.is_file() or stamp.read_text() != mark:
        progress("unpacking the source", 0)
        shutil.rmtree(tree)
        tree.mkdir(parents=True)
        command = ["tar", "xf", str(source), "--strip-components=1", "-C", str(tree)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LiveError(f"source: {source} cannot be unpacked: {done.stderr.strip()}")
        _check(tree, source)
        for path in {edit.path for edit in edits}:
            shutil.copy2(tree / path, tree / f"{path}.cwndlab-original")
        stamp.write_text(mark)
    for path in {edit.path for edit in edits}:
        original = (tree / f"{path}.cwndlab-original").read_text()
        _write(tree / path, _edited(original, path, edits))


def _edited(text: str, path: str, edits: tuple[_Edit, ...]) -> str:
    for edit in edits:
        if edit.path != path:
            continue
        text, count = re.subn(edit.pattern, edit.replacement, text, flags=re.MULTILINE)
        if count == 0:
            raise LiveError(
                f"{path} of this kernel lacks the line to edit ({edit.why}): expected Linux 6.12 "
                "or one close to it"
            )
    return text


def _write(target: Path, text: str) -> None:
    if not target.is_file() or target.read_text() != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def _configure(tree: Path, config: Path | None) -> None:
    _write(tree / "arch/um/os-Linux/cwndlab_user.c", (ADDITIONS / "entropy.c").read_text())
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
    _write(wanted, lines)
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
        raise LiveError(f"configuration of the kernel: it does not take {', '.join(refused)}")
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
                progress("compiling", compiled)
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
    raise LiveError(f"{binary} booted and said nothing")


def _identity(tree: Path) -> str:
    """Hash of what decides the packets of a kernel."""
    whole = hashlib.sha256()
    roots = [tree / "net", tree / "include/net", tree / "include/linux"]
    paths = sorted(path for root in roots for path in root.rglob("*.[ch]"))
    edited = [tree / edit.path for edit in _edits(0)]
    for path in [*paths, *edited, *sorted(ADDITIONS.glob("*.c"))]:
        whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    whole.update(_configuration((tree / ".config").read_text()).encode())
    return whole.hexdigest()[:16]


def _configuration(text: str) -> str:
    """Return a configuration without what tells the compiler."""
    compiler = re.compile(r"CONFIG_(CC|GCC|CLANG|LD|LLD|AS|PAHOLE|RUSTC|TOOLS|HAVE|BINDGEN)_")
    lines = [line for line in text.splitlines() if line.startswith("CONFIG_")]
    return "\n".join(line for line in lines if compiler.match(line) is None)
