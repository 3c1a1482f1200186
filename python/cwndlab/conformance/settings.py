"""Settings that the commands of a script make, read from their text: no command is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cwndlab.conformance.refusal import NotModelledError

_FIXED = {
    "tcp_recovery": ("1",),
    "tcp_reordering": ("3",),
    "tcp_fack": ("0",),
    "tcp_mtu_probing": ("0",),
    "tcp_thin_linear_timeouts": ("0",),
    "tcp_pacing_ss_ratio": ("200",),
    "tcp_pacing_ca_ratio": ("120",),
    "tcp_ecn": ("0", "1", "2"),
    "tcp_slow_start_after_idle": ("0", "1"),
    "tcp_sack": ("0", "1"),
    "tcp_timestamps": ("0", "1", "2"),
}
"""Settings of the sender and the values that the simulator has."""
_TAKEN = (
    "tcp_congestion_control", "tcp_early_retrans", "tcp_tso_win_divisor", "tcp_rto_min_us",
)  # fmt: skip
_IGNORED = (
    # Of the receiver, the handshake, the application's memory or bursts at one time.
    "tcp_rmem", "tcp_wmem", "tcp_syn_retries", "tcp_synack_retries", "tcp_frto", "tcp_dsack",
    "tcp_ecn_option", "tcp_notsent_lowat", "tcp_fastopen", "tcp_fastopen_key", "tcp_syncookies",
    "tcp_min_tso_segs", "tcp_retries1", "tcp_retries2", "tcp_no_metrics_save", "tcp_autocorking",
    "tcp_limit_output_bytes", "tcp_moderate_rcvbuf", "tcp_fin_timeout", "tcp_orphan_retries",
    "tcp_window_scaling", "tcp_keepalive_time", "tcp_keepalive_intvl", "tcp_adv_win_scale",
    "tcp_app_win", "tcp_comp_sack_nr", "tcp_comp_sack_delay_ns", "tcp_comp_sack_slack_ns",
    "tcp_invalid_ratelimit", "tcp_reflect_tos", "tcp_tso_rtt_log", "tcp_rto_max_ms",
)  # fmt: skip
_NO_DEFERRAL = 100
"""From this divisor on a window of ten packets never waits for a larger burst."""
_KEY = re.compile(r"net[./](?P<family>[a-z0-9]+)[./](?P<name>[a-z0-9_./]+)$")
_QUIET_PROGRAMS = ("nstat", "true", "sleep", "grep")


@dataclass
class Settings:
    """Settings of the kernel that a script changes.

    Attributes
    ----------
    sysctls : mapping
        Names without ``net.ipv4.`` to values.
    is_paced : bool
        Whether the device has a queue that paces (``fq``).
    refuses_packets : bool
        Whether the device's queue has no room.

    Examples
    --------
    >>> settings = Settings()
    >>> settings.read("sysctl -q net.ipv4.tcp_congestion_control=reno", 1, Path("."))
    >>> settings.congestion_control(), settings.knobs()["idle_restart"]
    ('reno', True)
    """

    sysctls: dict[str, str] = field(default_factory=dict[str, str])
    is_paced: bool = False
    refuses_packets: bool = False

    def read(self, commands: str, line: int, folder: Path) -> None:
        """Read shell commands that begin at a line of a script in `folder`.

        Raises
        ------
        NotModelledError
            If a command does something that the simulator does not have.
        """
        for words in _commands(commands, line):
            self._command(words, line, folder)

    def congestion_control(self) -> str:
        """Return the name of the congestion control; CUBIC is the kernel's default."""
        return self.sysctls.get("tcp_congestion_control", "cubic")

    def is_set(self, name: str, default: str) -> bool:
        """Whether a setting is not 0."""
        return self.sysctls.get(name, default) != "0"

    def knobs(self) -> dict[str, object]:
        """Return the settings as knobs of the simulator's endpoint."""
        knobs: dict[str, object] = {
            "tlp": self.is_set("tcp_early_retrans", "3"),
            "idle_restart": self.is_set("tcp_slow_start_after_idle", "1"),
            "tso": int(self.sysctls.get("tcp_tso_win_divisor", "3")) < _NO_DEFERRAL,
        }
        if "tcp_rto_min_us" in self.sysctls:
            knobs["min_rto"] = f"{self.sysctls['tcp_rto_min_us']}us"
        return knobs

    def of_a_connection(self) -> tuple[dict[str, object], bool]:
        """Return what an open connection would notice if it changed."""
        return self.knobs(), self.is_paced

    def _command(self, words: list[str], line: int, folder: Path) -> None:
        program, arguments = words[0], words[1:]
        name = Path(program).name
        if name == "sysctl":
            self._set_all((word for word in arguments if "=" in word), line)
        elif name == "set_sysctls.py":
            self._set_all((word.removeprefix("/proc/sys/") for word in arguments), line)
        elif name == "echo" and ">" in arguments and arguments[-1].startswith("/"):
            self._write(" ".join(arguments[: arguments.index(">")]), arguments[-1], line)
        elif name == "tc":
            self._queue(arguments, line)
        elif name.endswith(".sh") and program.startswith("."):
            script = folder / program
            if not script.is_file():
                raise NotModelledError(line, f"{program}: no such file in the folder of the script")
            self.read(script.read_text(encoding="utf-8"), line, script.parent)
        elif not _is_quiet(name, arguments):
            raise NotModelledError(line, f"`{' '.join(words)}`")

    def _set_all(self, assignments: Iterator[str], line: int) -> None:
        for assignment in assignments:
            key, _, value = assignment.partition("=")
            self._set(key, value.strip(), line)

    def _set(self, key: str, value: str, line: int) -> None:
        found = _KEY.match(key.strip())
        if found is None or found["family"] != "ipv4" or not found["name"].startswith("tcp_"):
            return
        name = found["name"]
        if name in _IGNORED:
            return
        if name in _FIXED:
            if value not in _FIXED[name]:
                raise NotModelledError(line, f"{name}={value}")
        elif name not in _TAKEN:
            raise NotModelledError(line, name)
        if name == "tcp_tso_win_divisor" and not (value == "3" or int(value) >= _NO_DEFERRAL):
            raise NotModelledError(line, f"{name}={value}")
        self.sysctls[name] = value

    def _write(self, value: str, path: str, line: int) -> None:
        if path.endswith("tcp_cubic/parameters/hystart_detect"):
            if value != "3":
                raise NotModelledError(line, f"hystart_detect={value}")
        elif path.startswith("/proc/sys/"):
            self._set(path.removeprefix("/proc/sys/"), value, line)
        else:
            raise NotModelledError(line, f"`echo {value} > {path}`")

    def _queue(self, arguments: list[str], line: int) -> None:
        """Take the queue of the device: one that delays nothing, or paces, or has no room."""
        if arguments[:1] != ["qdisc"] or "root" not in arguments:
            raise NotModelledError(line, f"`tc {' '.join(arguments)}`")
        kind, *details = arguments[arguments.index("root") + 1 :] or ["none"]
        if kind.startswith("2>") or arguments[1] in ("del", "delete"):
            kind, details = "none", []
        if kind not in ("none", "pfifo", "bfifo", "pfifo_fast", "fq", "noqueue"):
            raise NotModelledError(line, f"tc qdisc {kind}")
        self.is_paced = kind == "fq"
        self.refuses_packets = kind.endswith("fifo") and details[:2] == ["limit", "0"]


def _is_quiet(name: str, arguments: list[str]) -> bool:
    """Whether a program changes nothing that the sender sees."""
    if name == "ip":
        return "route" not in arguments[:2]
    return name in _QUIET_PROGRAMS or name.startswith("sysctl_restore")


def _commands(text: str, line: int) -> Iterator[list[str]]:
    """Split shell commands into words, without comments and redirections to nowhere."""
    joined = re.sub(r"\\\n", " ", text)
    for row in joined.splitlines():
        for part in row.split(";"):
            try:
                words = shlex.split(part, comments=True)
            except ValueError:
                raise NotModelledError(line, f"`{part.strip()}`") from None
            words = [word for word in words if word not in ("2>&1", "2>/dev/null")]
            if words[-2:] == [">", "/dev/null"]:
                del words[-2:]
            if words:
                yield words
