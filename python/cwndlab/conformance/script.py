"""A packetdrill script: its options, its commands and its events, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cwndlab.conformance.moment import Moment
from cwndlab.errors import ScenarioError
from cwndlab.message import quoted

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_OPTION = re.compile(r"--(?P<name>\w+)(?:=(?P<value>\S+))?")
_CALL = re.compile(r"(?P<name>[a-z_][a-z_0-9]*)\s*\(")
_RESULT = re.compile(
    r"\s*=\s*(?P<value>-?(?:0x[0-9a-fA-F]+|\d+)|\.\.\.|[A-Z_|]+)(?:\s+E[A-Z]+)?(?:\s*\([^)\n]*\))?"
)
_SEGMENT_START = re.compile(r"[<>]")


@dataclass(frozen=True)
class Call:
    """A system call with its arguments as they are written, and its result; None if that is open.

    Examples
    --------
    >>> event = Script.parse("0 write(4, ..., 1000) = 1000").events[0]
    >>> event.body.name, event.body.arguments, event.body.result
    ('write', ('4', '...', '1000'), 1000)
    """

    name: str
    arguments: tuple[str, ...]
    result: int | None


@dataclass(frozen=True)
class Command:
    """Shell commands in backticks."""

    text: str


@dataclass(frozen=True)
class Code:
    """Python code between ``%{`` and ``}%``."""

    text: str


@dataclass(frozen=True)
class Packet:
    """A packet in packetdrill's notation."""

    text: str


Body = Call | Command | Code | Packet


@dataclass(frozen=True)
class Event:
    """What happens at a time.

    Attributes
    ----------
    line : int
        Number of its line, from 1.
    moment : Moment or None
        When; None for a command before the first event.
    body : Call, Command, Code or Packet
        What.
    text : str
        The line as it is written, without its comment.
    """

    line: int
    moment: Moment | None
    body: Body
    text: str


@dataclass(frozen=True)
class Script:
    """A script.

    Attributes
    ----------
    options : mapping
        Options of packetdrill in the script, such as ``tolerance_usecs``.
    events : sequence of Event
        In the order of the script.

    Examples
    --------
    >>> script = Script.parse('''--tolerance_usecs=9000
    ... `sysctl -q net.ipv4.tcp_ecn=0`
    ... 0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
    ... +.1 < S 0:0(0) win 32792 <mss 1000>  // the peer connects
    ... +0  %{ assert tcpi_snd_cwnd == 10 }%
    ... ''')
    >>> script.options, [type(event.body).__name__ for event in script.events]
    ({'tolerance_usecs': '9000'}, ['Command', 'Call', 'Packet', 'Code'])
    >>> script.events[2].text, script.events[2].line
    ('+.1 < S 0:0(0) win 32792 <mss 1000>', 4)
    """

    options: dict[str, str]
    events: tuple[Event, ...]

    @classmethod
    def load(cls, path: Path) -> Script:
        """Read a script.

        Raises
        ------
        ScenarioError
            If the file is no script of packetdrill.
        OSError
            If it cannot be read.
        """
        try:
            return cls.parse(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise ScenarioError(
                f"{path}: expected a script of packetdrill, which is text in UTF-8"
            ) from None
        except ScenarioError as error:
            raise ScenarioError(f"{path}: {error}") from None

    @classmethod
    def parse(cls, text: str) -> Script:
        """Read the text of a script.

        Raises
        ------
        ScenarioError
            If it has no event, or something that is none.
        """
        reader = _Reader(text)
        options = dict(reader.options())
        events = tuple(reader.events())
        if not any(event.moment for event in events):
            raise ScenarioError("script: no event: expected a script of packetdrill")
        return cls(options, events)


class _Reader:
    """A place in the text of a script."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def options(self) -> Iterator[tuple[str, str]]:
        """Read the options before the first event."""
        self._skip_space()
        while found := _OPTION.match(self._text, self._at):
            self._at = found.end()
            yield found["name"], found["value"] or ""
            self._skip_space()

    def events(self) -> Iterator[Event]:
        """Read the events up to the end."""
        self._skip_space()
        while self._at < len(self._text):
            start = self._at
            found = Moment.at(self._text, start)
            moment = None
            if found is not None:
                moment, self._at = found
                self._skip_space()
            body = self._body(moment)
            written = self._text[start : self._at]
            first = _without_comment(written.split("\n", 1)[0])
            yield Event(self._line(start), moment, body, " ".join(first.split()))
            self._skip_space()

    def _body(self, moment: Moment | None) -> Body:
        text, at = self._text, self._at
        if text.startswith("`", at):
            return Command(self._until("`", at + 1))
        if moment is None:
            raise self._refused(at, 'a time such as "+.1"')
        if text.startswith("%{", at):
            return Code(self._until("}%", at + 2))
        if found := _CALL.match(text, at):
            return self._call(found["name"], found.end())
        if _SEGMENT_START.match(text, at):
            end = text.find("\n", at)
            self._at = len(text) if end < 0 else end
            return Packet(_without_comment(text[at : self._at]).strip())
        raise self._refused(at, "a packet, a system call, a command or code")

    def _until(self, mark: str, start: int) -> str:
        end = self._text.find(mark, start)
        if end < 0:
            raise self._refused(start, f"a closing {mark}")
        self._at = end + len(mark)
        return self._text[start:end]

    def _call(self, name: str, start: int) -> Call:
        arguments, depth, begin = list[str](), 1, start
        for at in range(start, len(self._text)):
            sign = self._text[at]
            depth += (sign in "([{") - (sign in ")]}")
            if depth == 0 or (depth == 1 and sign == ","):
                arguments.append(" ".join(self._text[begin:at].split()))
                begin = at + 1
            if depth == 0:
                break
        else:
            raise self._refused(start, "a closing )")
        found = _RESULT.match(self._text, begin)
        if found is None:
            raise self._refused(begin, 'a result such as "= 0"')
        self._at = found.end()
        value = found["value"]
        is_number = value.lstrip("-")[:1].isdigit()
        return Call(name, tuple(arguments), int(value, 0) if is_number else None)

    def _skip_space(self) -> None:
        if found := _SPACE.match(self._text, self._at):
            self._at = found.end()

    def _line(self, at: int) -> int:
        return self._text.count("\n", 0, at) + 1

    def _refused(self, at: int, expected: str) -> ScenarioError:
        rest = self._text[at:].split("\n", 1)[0].strip()
        return ScenarioError(
            f"line {self._line(at)}: {quoted(rest)} is not valid: expected {expected}"
        )


def _without_comment(line: str) -> str:
    return line.split("//", 1)[0]
