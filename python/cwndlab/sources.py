"""Sources of classes as Python read them: they identify a rule, and so enter the key of its runs.

A file may be edited while a program runs; the code that runs is then the one that was read, not the
file's. A source is therefore only given if it is known to be that of the code in memory:

- a module that `imported` imports: its file, read before and after, if both are equal;
- a file given to `keep`: the content given;
- a module imported before, or the program itself: its file, if it is unchanged since this process
  began;
- a class of a notebook: the cells of the class and of the functions it calls, as IPython keeps
  them;

and only as long as the file is unchanged. For a program (``__main__``) the values of the constants
that the class refers to count as well: ``STEP = float(sys.argv[1])`` is another rule for another
argument.
"""

from __future__ import annotations

import dis
import importlib
import importlib.util
import inspect
import linecache
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from cwndlab.documents import is_table

MOST_LETTERS = 100_000
"""Longest representation of a constant that is compared, characters."""
_SIMPLE = (int, float, complex, str, bytes, type(None))
_HOLDERS = (list, tuple, set, frozenset, dict)

# Module name -> the module's spec when it was first seen (a reload makes another one), and its
# source.
_seen: dict[str, tuple[object, bytes | None]] = {}


def of_class(rule: Callable[..., object], place: str) -> str | None:
    """Return the source of a class, and that of the module that names it if it is another one.

    Returns
    -------
    str or None
        The whole modules; for the program itself also the constants that the class refers to. None
        if it is unavailable, or was edited after it was read.

    Examples
    --------
    >>> import fractions
    >>> "class Fraction" in of_class(fractions.Fraction, "fractions")
    True
    """
    texts: list[str | None] = []
    for name in dict.fromkeys((place, rule.__module__)):
        if name != "__main__":
            texts.append(of_module(sys.modules[name]) if name in sys.modules else None)
        elif name == rule.__module__:
            texts.append(of_program(rule))
    known = [text for text in texts if text is not None]
    return "\0".join(known) if len(known) == len(texts) else None


def imported(name: str) -> ModuleType:
    """Import a module, and remember its source.

    Raises
    ------
    ImportError
        If the module cannot be imported.

    Examples
    --------
    >>> imported("fractions").__name__
    'fractions'
    """
    if name in sys.modules:
        module = importlib.import_module(name)
        _see(module)
        return module
    before = _read(_place_of(name))
    module = importlib.import_module(name)
    after = _read(_file(module))
    if before is not None and after == before:
        keep(module, before)
    return module


def keep(module: ModuleType, source: bytes) -> None:
    """Remember the source of a module."""
    _seen[module.__name__] = module.__spec__, source


def of_module(module: ModuleType) -> str | None:
    """Return the source of a module; None if there is none, or the code in memory may differ.

    Examples
    --------
    >>> import fractions
    >>> "class Fraction" in of_module(fractions), of_module(sys)
    (True, None)
    """
    source = _see(module)
    if source is None or source != _read(_file(module)):
        return None
    return decoded(source)


def of_program(rule: Callable[..., object]) -> str | None:
    """Return the source of a class of the program itself (``__main__``), with its constants.

    None if it is unavailable.
    """
    program = sys.modules["__main__"]
    reached = _Reached(vars(program), rule)
    if _is_typed(program):
        cells = [_cell(code.co_filename) for code in reached.codes]
        if reached.is_partial or None in cells:
            return None
        texts = sorted({cell for cell in cells if cell is not None})
    else:
        # The whole file: any part of it may have changed the class.
        text = of_module(program)
        if text is None:
            return None
        texts = [text]
    return "\0".join(
        [*texts, *(f"{name} = {value}" for name, value in sorted(reached.values.items()))]
    )


def decoded(source: bytes) -> str | None:
    r"""Read a source as Python does; None if it is not text.

    Examples
    --------
    >>> decoded("'ä'\r\n".encode()), decoded(b"'\xe4'")
    ("'ä'\n", None)
    """
    try:
        text = importlib.util.decode_source(source)
    except (SyntaxError, UnicodeDecodeError):
        return None
    # A missing newline at the end means nothing.
    return text if text.endswith("\n") else f"{text}\n"


class _Reached:
    """Names that a class of the program refers to: code, and the values of constants."""

    def __init__(self, names: Mapping[str, Any], rule: Callable[..., object]) -> None:
        self.codes: list[CodeType] = []
        self.values: dict[str, str] = {}
        self.is_partial = False
        """Whether a reference cannot be identified."""
        self._names, self._done = names, set[int]()
        self._take(rule.__qualname__, rule)

    def _take(self, name: str, value: Any) -> None:
        if isinstance(value, type | FunctionType):
            if value.__module__ != "__main__":
                self.values[name] = f"{value.__module__}.{value.__qualname__}"
            elif id(value) not in self._done:
                self._done.add(id(value))
                if isinstance(value, type):
                    self._take_class(name, value)
                else:
                    self._take_function(name, value)
        elif isinstance(value, staticmethod | classmethod):
            self._take(name, value.__func__)
        elif isinstance(value, property):
            for part in filter(None, (value.fget, value.fset, value.fdel)):
                self._take(name, part)
        elif isinstance(value, ModuleType | BuiltinFunctionType):
            self.values[name] = value.__name__
        elif _is_plain(value) and len(text := _written(value)) <= MOST_LETTERS:
            self.values[name] = text
        else:
            self.is_partial = True

    def _take_class(self, name: str, value: type) -> None:
        for base in value.__mro__[1:]:
            self._take(f"{name}({base.__qualname__})", base)
        for key, entry in vars(value).items():
            # Python's own entries, such as the class's line number, do not affect its behaviour.
            if isinstance(entry, FunctionType) or not (key.startswith("__") and key.endswith("__")):
                self._take(f"{name}.{key}", entry)

    def _take_function(self, name: str, value: FunctionType) -> None:
        self.codes.append(value.__code__)
        for number, entry in enumerate(value.__defaults__ or ()):
            self._take(f"{name}({number})", entry)
        for key, entry in (value.__kwdefaults__ or {}).items():
            self._take(f"{name}({key})", entry)
        for key, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            try:
                self._take(f"{name}({key})", cell.cell_contents)
            except ValueError:  # Not bound yet.
                self.is_partial = True
        for key in _global_names(value.__code__):
            if key in self._names:
                self._take(key, self._names[key])


def _global_names(code: CodeType) -> Iterator[str]:
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _is_plain(value: Any) -> bool:
    if is_table(value):
        return type(value) is dict and all(map(_is_plain, [*value, *value.values()]))
    return type(value) in (bool, *_SIMPLE) or (
        type(value) in _HOLDERS and all(map(_is_plain, value))
    )


def _written(value: Any) -> str:
    # The order of sets differs between processes.
    return (
        f"{type(value).__name__} {sorted(map(repr, value))}"
        if type(value) in (set, frozenset)
        else repr(value)
    )


def _is_typed(program: ModuleType) -> bool:
    """Whether the program is a notebook or a prompt, whose code is in no file."""
    return (
        _file(program) is None
        or hasattr(sys, "ps1")
        or bool(sys.flags.interactive)
        or "get_ipython" in vars(program)
    )


def _cell(name: str) -> str | None:
    """Return the text of a notebook's cell by the file name of its compiled code."""
    entry = linecache.cache.get(name)
    # Texts of files have a modification time; texts of cells cannot change.
    return "".join(entry[2]) if entry is not None and len(entry) == 4 and entry[1] is None else None


def _see(module: ModuleType) -> bytes | None:
    """Return the source of a module as it was when it was first seen.

    None if it may have been edited before.
    """
    name, spec = module.__name__, getattr(module, "__spec__", None)
    if name not in _seen or _seen[name][0] is not spec:
        file = _file(module)
        _seen[name] = spec, _read(file) if file is not None and _is_older(file) else None
    return _seen[name][1]


def _is_older(file: Path) -> bool:
    try:
        status = file.stat()
    except OSError:
        return False
    # The later of both times: programs can set the modification time to any value.
    return max(status.st_ctime_ns, status.st_mtime_ns) < _BEGAN_NS


def _place_of(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def _file(module: ModuleType) -> Path | None:
    try:
        found = inspect.getsourcefile(module)
    except TypeError:
        return None
    return None if found is None else Path(found)


def _read(file: Path | None) -> bytes | None:
    try:
        return None if file is None else file.read_bytes()
    except OSError:
        return None


def _process_began_ns() -> int:
    """Start of this process, in the file system's clock.

    If the system does not tell, the time of this call.
    """
    try:
        fields = (
            Path("/proc/self/stat")
            .read_text(encoding="ascii", errors="replace")
            .rpartition(")")[2]
            .split()
        )
        # proc(5): field 22, in ticks since boot; two fields were removed. One tick is subtracted,
        # because the clock of file times may be a tick behind. A program edited in the last tick
        # before its start has no key, which costs a run; a wrong key would give another rule's
        # result.
        began_ns = (int(fields[19]) - 1) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
        # A delay between reading the two clocks makes the difference too small: take the largest.
        return began_ns + max(
            time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME) for _ in range(9)
        )
    except (OSError, AttributeError, ValueError, IndexError):
        return time.time_ns()


_BEGAN_NS = _process_began_ns()
