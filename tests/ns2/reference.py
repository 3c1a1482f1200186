"""What ns-2 printed, kept: agreement is checked on every machine, also where no ``ns`` is
installed.

    python -m tests.ns2.reference         runs ns-2 for what is missing, drops what no test uses
    python -m tests.ns2.reference --all   runs ns-2 for everything anew

A run is known by the hash of its Tcl script, its arguments and the version of ns-2. Its output is
kept as columns of numbers in `reference/*.zip`. Where ``ns`` is installed, a random share of the
runs is done again and compared with what is kept: a tenth by default, all with
``CWNDLAB_NS2_LIVE=1``, none with ``CWNDLAB_NS2_LIVE=0``."""

from __future__ import annotations

import argparse
import functools
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy

FOLDER = Path(__file__).with_name("reference")
VERSION = "2.35"
# The fixed date of every member: the same runs give the same file.
DATE = (2000, 1, 1, 0, 0, 0)
LIVE_SHARE = "CWNDLAB_NS2_LIVE"

Columns = dict[str, numpy.ndarray]


@dataclass(frozen=True)
class Run:
    """One run of ns-2: where its output is kept, its script and arguments, and what is read of its
    output files."""

    archive: str
    script: str
    arguments: tuple[str, ...]
    read: Callable[[Path], Columns]

    @property
    def key(self) -> str:
        text = "\0".join((VERSION, *self.arguments, self.script))
        return hashlib.sha256(text.encode()).hexdigest()[:24]


class NotKeptError(LookupError):
    """A run that is not kept, on a machine that cannot do it."""


def program() -> str | None:
    """Path of ``ns``, or None where ns-2 is not installed."""
    return shutil.which("ns")


@functools.cache
def installed_version() -> str | None:
    """The version that ``ns`` reports, or None where ns-2 is not installed."""
    ns = program()
    if ns is None:
        return None
    done = subprocess.run(
        [ns, "-"],
        input='puts "version [ns-version]"; exit 0',
        capture_output=True,
        text=True,
        check=False,
    )
    return next(
        (line.split()[1] for line in done.stdout.splitlines() if line.startswith("version")),
        "unknown",
    )


def live(run: Run) -> Columns:
    """Run ns-2. Raises `RuntimeError` with what it printed where it fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "run.tcl").write_text(run.script)
        command = [program() or "ns", "run.tcl", *run.arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr.strip():
            raise RuntimeError(
                f"ns failed ({done.returncode}): {done.stderr.strip()[-2000:]}{done.stdout[-500:]}"
            )
        return run.read(folder)


def output(run: Run) -> Columns:
    """What ns-2 printed: as kept, else from a run done now where ns-2 is installed."""
    found = kept(run)
    if found is not None:
        return found
    if installed_version() != VERSION:
        raise NotKeptError(
            f"not kept, and ns-2 {VERSION} is not installed: python -m tests.ns2.reference"
        )
    return live(run)


def kept(run: Run) -> Columns | None:
    """What is kept of a run, or None."""
    archive = _archive(run.archive)
    if archive is None or run.key not in archive.NameToInfo:
        return None
    return _unpacked(archive.read(run.key))


@functools.cache
def _archive(name: str) -> zipfile.ZipFile | None:
    path = FOLDER / f"{name}.zip"
    return zipfile.ZipFile(path) if path.exists() else None


def _packed(columns: Columns) -> bytes:
    """Integers by their differences, which compress to a byte or two."""
    buffer = io.BytesIO()
    stored = {
        name: (
            numpy.diff(column, prepend=column.dtype.type(0)) if column.dtype.kind == "i" else column
        )
        for name, column in columns.items()
    }
    numpy.savez(buffer, **stored)
    return buffer.getvalue()


def _unpacked(data: bytes) -> Columns:
    with numpy.load(io.BytesIO(data), allow_pickle=False) as stored:
        return {
            name: numpy.cumsum(column, dtype=column.dtype) if column.dtype.kind == "i" else column
            for name, column in stored.items()
        }


def millionths(printed: Sequence[str]) -> numpy.ndarray:
    """Numbers as integers: ns-2 prints its traced variables, the window among them, with six
    digits."""
    return numpy.rint(numpy.array(printed, float) * 1e6).astype("i8")


def keys(name: str) -> list[str]:
    """Of the runs that an archive holds."""
    archive = _archive(name)
    return [] if archive is None else archive.namelist()


def share_done_again() -> float:
    """Share of the runs that tests do again where ns-2 is installed."""
    return float(os.environ.get(LIVE_SHARE, "0.1"))


def differing(run: Run) -> str | None:
    """None where a run done now prints what is kept, else the first column that differs."""
    now, before = live(run), kept(run)
    if before is None or set(now) != set(before):
        return "not kept: python -m tests.ns2.reference"
    different = [name for name in now if not numpy.array_equal(now[name], before[name])]
    return f"ns-2 printed another column {different[0]} than is kept" if different else None


def record(runs: Iterable[Run], anew: bool) -> Iterator[tuple[str, int, int]]:
    """Write the archives: for each its name, how many runs it holds, and how many of them were done
    now."""
    groups: dict[str, dict[str, Run]] = {}
    for run in runs:
        groups.setdefault(run.archive, {})[run.key] = run
    for name, wanted in groups.items():
        before = (
            {}
            if anew
            else {key: data for key, run in wanted.items() if (data := kept(run)) is not None}
        )
        missing = [run for key, run in wanted.items() if key not in before]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            now = dict(zip((run.key for run in missing), pool.map(live, missing), strict=True))
        FOLDER.mkdir(exist_ok=True)
        partial = FOLDER / f"{name}.partial"
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_LZMA) as archive:
            for key in sorted(wanted):
                member = zipfile.ZipInfo(key, DATE)
                member.compress_type = zipfile.ZIP_LZMA
                archive.writestr(member, _packed(before[key] if key in before else now[key]))
        partial.replace(FOLDER / f"{name}.zip")
        _archive.cache_clear()
        yield name, len(wanted), len(now)


def main() -> int:
    from .reference_runs import everything

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="run ns-2 for everything anew")
    arguments = parser.parse_args()
    if installed_version() != VERSION:
        print(
            f"ns-2 {VERSION} (program `ns`, Debian package ns2) is not installed", file=sys.stderr
        )
        return 2
    begin_s = time.perf_counter()
    for name, count, done in record(everything(), arguments.all):
        size_kb = (FOLDER / f"{name}.zip").stat().st_size / 1e3
        elapsed_s = time.perf_counter() - begin_s
        print(
            f"{name}: {count} runs, {done} done now, {size_kb:.0f} kB; {elapsed_s:.0f} s",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
