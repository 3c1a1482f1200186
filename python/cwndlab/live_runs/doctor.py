"""Checks this machine's requirements of real flows and of comparisons with other programs."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cwndlab.errors import LiveError
from cwndlab.kernel_runs import building, kernels, program, source_tree
from cwndlab.ns2.program import Ns2

# linux/capability.h
CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_BPF = 12, 21, 39
TYPES = Path("/sys/kernel/btf/vmlinux")
# BPF links of struct_ops, which end with their process.
LEAST_KERNEL = (6, 4)

RUNS, RULES, BUILD = "live linux", "rules in the kernel", "building rules in the kernel"
ANY_LINUX = "run on Linux 6.4 or later"
AS_ROOT = "run as root"


@dataclass(frozen=True)
class Part:
    """A requirement that a machine meets or lacks.

    Attributes
    ----------
    name : str
        What it is.
    found : str or None
        What was found, such as a version; None if it is missing.
    needed_for : str
        Features that need it.
    how : str
        How to install it.
    """

    name: str
    found: str | None
    needed_for: str
    how: str


def look() -> list[Part]:
    """Check this machine without changing it.

    Examples
    --------
    >>> from cwndlab.live_runs import doctor
    >>> [part.name for part in doctor.look()][:3]
    ['kernel', 'kernel types (BTF)', 'struct_ops for TCP']
    """
    return [Part(name, _safely(find), needed_for, how) for name, find, needed_for, how in PARTS]


def _safely(find: Callable[[], str | None]) -> str | None:
    try:
        return find()
    except (OSError, LiveError, RuntimeError, subprocess.SubprocessError):
        return None


def _kernel() -> str | None:
    release = platform.release()
    numbers = re.match(r"(\d+)\.(\d+)", release)
    if (
        platform.system() != "Linux"
        or numbers is None
        or tuple(map(int, numbers.groups())) < LEAST_KERNEL
    ):
        return None
    return f"Linux {release}"


def _types() -> str | None:
    return f"{TYPES.stat().st_size / 1e6:.1f} MB"


def _struct_ops() -> str | None:
    # The kernel's type information names what BPF can implement.
    return "yes" if b"\0bpf_struct_ops_tcp_congestion_ops\0" in TYPES.read_bytes() else None


def _privileges() -> str | None:
    effective = re.search(r"^CapEff:\s*(\w+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    held = int(effective[1], 16) if effective else 0
    return (
        "yes"
        if all(held >> capability & 1 for capability in (CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_BPF))
        else None
    )


def _namespaces() -> str | None:
    return "yes" if Path("/proc/self/ns/net").exists() else None


def _tun() -> str | None:
    with Path("/dev/net/tun").open("r+b", buffering=0):
        return "/dev/net/tun"


def _ecn() -> str | None:
    return f"tcp_ecn = {Path('/proc/sys/net/ipv4/tcp_ecn').read_text().strip()}; runs set their own"


def _bpf_files() -> str | None:
    return (
        "yes" if re.search(r"\tbpf$", Path("/proc/filesystems").read_text(), re.MULTILINE) else None
    )


def _congestion_controls() -> str | None:
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().strip()


def _clang() -> str | None:
    targets = _output("clang", "-print-targets")
    version = re.search(r"version (\S+)", _output("clang", "--version"))
    return version[1] if version and re.search(r"^\s*bpf\b", targets, re.MULTILINE) else None


def _header(name: str) -> Callable[[], str | None]:
    def find() -> str | None:
        compiler = shutil.which("cc") or "clang"
        command = [compiler, "-E", "-x", "c", "-"]
        done = subprocess.run(
            command,
            input=f"#include <{name}>\n",
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        return name if done.returncode == 0 else None

    return find


def _program() -> str | None:
    rules = program.ask("about")["rules_in_kernel"]
    return "with rules in the kernel" if rules else "without rules in the kernel"


def _virtual_kernel() -> str | None:
    found = kernels.find()
    return f"{found.name}, Linux {found.release}, HZ {found.hz}"


def _source() -> str | None:
    return source_tree.packaged().name


def _build_tools() -> str | None:
    return None if building.absent_tools() else "yes"


def _on_path(name: str) -> Callable[[], str | None]:
    return lambda: shutil.which(name)


def _ns2() -> str | None:
    program = Ns2()
    return f"ns-2 {program.version}, {program.path}"


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stdout


PARTS: tuple[tuple[str, Callable[[], str | None], str, str], ...] = (
    ("kernel", _kernel, RULES, ANY_LINUX),
    ("kernel types (BTF)", _types, RULES, "a kernel with CONFIG_DEBUG_INFO_BTF"),
    (
        "struct_ops for TCP",
        _struct_ops,
        RULES,
        "a kernel with CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT",
    ),
    ("BPF file system", _bpf_files, "live install", "a kernel with CONFIG_BPF_SYSCALL"),
    ("privileges", _privileges, f"{RUNS}, live install", AS_ROOT),
    ("network namespaces", _namespaces, RUNS, "a kernel with CONFIG_NET_NS"),
    ("TUN devices", _tun, RUNS, "a kernel with CONFIG_TUN, /dev/net/tun, root"),
    ("ECN", _ecn, "marks in live linux", ANY_LINUX),
    (
        "kernel's own rules",
        _congestion_controls,
        'rules such as "kernel:cubic"',
        "modprobe tcp_cubic, tcp_bbr",
    ),
    ("cwndlab-live", _program, f"{RUNS}, live quic, live install", "make live"),
    (
        "kernel in virtual time",
        _virtual_kernel,
        "live linux --virtual",
        "cwndlab virtual-kernel build (x86-64)",
    ),
    (
        "source of Linux",
        _source,
        "virtual-kernel build",
        "apt-get install linux-source, or --source",
    ),
    (
        "flex, bison, bc, make, gcc, xz",
        _build_tools,
        "virtual-kernel build",
        "apt-get install flex bison bc make gcc xz-utils",
    ),
    ("clang with BPF", _clang, BUILD, "apt-get install clang"),
    ("libelf headers", _header("libelf.h"), BUILD, "apt-get install libelf-dev"),
    ("zlib headers", _header("zlib.h"), BUILD, "apt-get install zlib1g-dev"),
    ("ns-2", _ns2, "export --to ns2, --beside ns2, agreement", "apt-get install ns2"),
    ("tshark", _on_path("tshark"), "tests of captures", "apt-get install tshark"),
)
