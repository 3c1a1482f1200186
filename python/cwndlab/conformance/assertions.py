"""The Python code of a script: what it asserts of ``tcp_info``. Only expressions are evaluated."""

from __future__ import annotations

import ast
import operator
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cwndlab.conformance.refusal import NotModelledError

CONSTANTS = {
    f"TCP_CA_{name}": number
    for number, name in enumerate(("Open", "Disorder", "CWR", "Recovery", "Loss"))
}
"""Congestion states."""
PREFIX = "tcpi_"
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
    ast.Invert: operator.invert,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs, "float": float, "int": int, "max": max, "min": min, "round": round,
}  # fmt: skip


@dataclass(frozen=True)
class Unmet:
    """An assertion that does not hold.

    Attributes
    ----------
    line : int
        Its line in the script.
    expected : str
        The assertion.
    found : str
        The values of its fields.
    """

    line: int
    expected: str
    found: str


@dataclass
class Assertions:
    """The variables of a script's code, which later code sees.

    Examples
    --------
    >>> state = {"snd_cwnd": 9}
    >>> Assertions().check("assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd", 7, state)
    Unmet(line=7, expected='tcpi_snd_cwnd == 10', found='tcpi_snd_cwnd == 9')
    """

    variables: dict[str, Any] = field(default_factory=lambda: dict[str, Any](CONSTANTS))

    def check(self, code: str, line: int, tcp_info: Mapping[str, int]) -> Unmet | None:
        """Run code of a line, and return the first assertion that does not hold.

        Raises
        ------
        NotModelledError
            If the code is more than assertions, assignments and prints, or asks for a field that
            the simulator does not have.
        """
        text = code if "\n" in code.strip() else code.strip()
        try:
            tree = ast.parse(textwrap.dedent(text))
        except SyntaxError:
            raise NotModelledError(line, f"code: {code.strip()}") from None
        for statement in tree.body:
            found = _Evaluation(self.variables, tcp_info, line).run(statement)
            if found is not None:
                return found
        return None


class _Evaluation:
    """One statement at one time."""

    def __init__(self, variables: dict[str, Any], tcp_info: Mapping[str, int], line: int) -> None:
        self._variables = variables
        self._tcp_info = tcp_info
        self._line = line

    def run(self, statement: ast.stmt) -> Unmet | None:
        line = self._line + statement.lineno - 1
        match statement:
            case ast.Assert(test=test):
                if not self._value(test):
                    return Unmet(line, ast.unparse(test), self._fields(test))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._variables[name] = self._value(value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                before = self._value(ast.Name(id=name, ctx=ast.Load(), lineno=target.lineno))
                self._variables[name] = self._binary(op)(before, self._value(value))
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"))) | ast.Pass():
                pass
            case _:
                raise NotModelledError(line, f"code: {ast.unparse(statement)}")
        return None

    def _fields(self, test: ast.expr) -> str:
        """Write the fields of an expression with their values."""
        names = dict.fromkeys(
            node.id for node in ast.walk(test)
            if isinstance(node, ast.Name) and node.id not in (*CONSTANTS, *_FUNCTIONS)
        )  # fmt: skip
        return ", ".join(f"{name} == {self._name(name, test)}" for name in names)

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._name(name, node)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op)(self._value(left), self._value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return _UNARY[type(op)](self._value(operand))
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self._value(value) for value in values)
            case ast.BoolOp(values=values):
                return any(self._value(value) for value in values)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                sides = [self._value(side) for side in (left, *comparators)]
                if all(type(op) in _COMPARISONS for op in ops):
                    pairs = zip(ops, sides, sides[1:], strict=False)
                    return all(_COMPARISONS[type(op)](a, b) for op, a, b in pairs)
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*(self._value(argument) for argument in arguments))
            case _:
                pass
        raise NotModelledError(self._line, f"code: {ast.unparse(node)}")

    def _binary(self, op: ast.operator) -> Callable[[Any, Any], Any]:
        if type(op) not in _BINARY:
            raise NotModelledError(self._line, f"code: {type(op).__name__}")
        return _BINARY[type(op)]

    def _name(self, name: str, node: ast.expr) -> Any:
        field = name.removeprefix(PREFIX)
        if name in self._variables:
            return self._variables[name]
        if name.startswith(PREFIX) and field in self._tcp_info:
            return self._tcp_info[field]
        raise NotModelledError(self._line + node.lineno - 1, name)
