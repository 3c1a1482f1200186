"""The source of a kernel: where it comes from, and the copy of it that is edited and compiled.

It is a distribution's package, a tarball or a tree of the user's own, which stays as it is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cwndlab.errors import LiveError
from cwndlab.message import invalid

PACKAGES = "apt-get install linux-source flex bison bc make gcc"
_PACKAGES_FOLDER = Path("/usr/src")
_ORIGIN, _MANIFEST = ".cwndlab-origin", ".cwndlab-files.json"

Progress = Callable[[str, int], None]
"""Gets the step and the number of files that are done."""


@dataclass(frozen=True)
class Edit:
    """Lines of the kernel's that a build changes: the only edits of its sources."""

    path: str
    why: str
    pattern: str
    replacement: str


def edits(hz: int) -> tuple[Edit, ...]:
    """Return all edits, for a kernel with that many timer interrupts per second."""
    return (
        Edit("drivers/char/random.c", "keys of random numbers from CWNDLAB_SEED",
             r"^\textract_entropy\(key, sizeof\(key\)\);\n(?=\n\t/\*\n\t \* We copy the new key)",
             "\tcwndlab_key(key, sizeof(key));\n"),
        Edit("drivers/char/random.c", "the declaration of what gives them",
             r"^(?=static void crng_reseed\(struct work_struct \*work\)\n\{)",
             "void cwndlab_key(void *to, size_t length);\n"),
        Edit("drivers/char/random.c", "no new keys as time passes",
             r"^\tif \(likely\(system_unbound_wq\)\)\n\t\tqueue_delayed_work\([^;]*"
             r"crng_reseed_interval\(\)\);\n", "\t(void)next_reseed;\n"),
        Edit("arch/um/os-Linux/Makefile", "the file that gives them",
             r"^USER_OBJS := ", "obj-y += cwndlab_user.o\n\nUSER_OBJS := "),
        Edit("net/ipv4/Makefile", "the folder with programs of rules",
             r"^(?=obj-\$\(CONFIG_TCP_CONG_BIC\))", "obj-y += cwndlab/\n"),
        Edit("arch/um/Kconfig", "HZ, which arch/um fixes",
             r"(^config HZ\n[^#]*?default) 100$", rf"\1 {hz}"),
    )  # fmt: skip


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


def copy(source: Path, tree: Path, edits: tuple[Edit, ...], progress: Progress) -> None:
    """Copy what has changed, and forget what is gone, so that `make` compiles only that.

    Raises
    ------
    LiveError
        If the source is none of Linux, holds a build, or lacks a line to edit.
    """
    _check(source, source)
    if (tree / _ORIGIN).exists():
        shutil.rmtree(tree)
    edited = {edit.path for edit in edits}
    manifest = tree / _MANIFEST
    before: dict[str, list[int]] = json.loads(manifest.read_text()) if manifest.is_file() else {}
    present: dict[str, list[int]] = {}
    for done, path in enumerate(_files(source)):
        relative = str(path.relative_to(source))
        about = path.lstat()
        # make compares times, so a file that has changed is new, however old its source is.
        present[relative] = [about.st_size, about.st_mtime_ns]
        target = tree / relative
        if relative in edited:
            write(target, _edited(path.read_text(), relative, edits))
            present[relative] = [0, 0]
        elif path.is_symlink():
            if not target.is_symlink():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(path.readlink())
        elif before.get(relative) != present[relative] or not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        if done % 1000 == 0:
            progress("copying the source", done)
    for relative in before.keys() - present.keys():
        (tree / relative).unlink(missing_ok=True)
    manifest.write_text(json.dumps(present))


def unpack(source: Path, tree: Path, edits: tuple[Edit, ...], progress: Progress) -> None:
    """Unpack a tarball once.

    Raises
    ------
    LiveError
        If it cannot be unpacked, is none of Linux, or lacks a line to edit.
    """
    about = source.stat()
    paths = sorted({edit.path for edit in edits})
    stamp, mark = tree / _ORIGIN, f"{source} {about.st_size} {about.st_mtime_ns} {paths}\n"
    if not stamp.is_file() or stamp.read_text() != mark:
        progress("unpacking the source", 0)
        shutil.rmtree(tree)
        tree.mkdir(parents=True)
        command = ["tar", "xf", str(source), "--strip-components=1", "-C", str(tree)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LiveError(f"source: {source} cannot be unpacked: {done.stderr.strip()}")
        _check(tree, source)
        for path in paths:
            shutil.copy2(tree / path, tree / f"{path}.cwndlab-original")
        stamp.write_text(mark)
    for path in paths:
        original = (tree / f"{path}.cwndlab-original").read_text()
        write(tree / path, _edited(original, path, edits))


def _edited(text: str, path: str, edits: tuple[Edit, ...]) -> str:
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


def write(target: Path, text: str) -> None:
    """Write a file if that changes it."""
    if not target.is_file() or target.read_text() != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
