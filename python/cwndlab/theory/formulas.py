"""Formulas of windows as trees: written, read, evaluated and measured.

The grammar is that of the rule ``Rule(inc="...", dec="...")`` (docs/custom-rules.md): numbers, the
window ``w`` in packets, the smoothed round trip ``rtt`` and the queueing delay ``qdelay`` in
seconds, ``+ - * / ^`` and functions.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cwndlab.message import invalid

BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
    "min": np.minimum,
    "max": np.maximum,
}
UNARY: Mapping[str, Callable[[Any], Any]] = {
    "sqrt": np.sqrt,
    "log": np.log,
    "exp": np.exp,
    "abs": np.abs,
}
VARIABLES = ("w", "rtt", "qdelay")
_RANK = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
_NODES: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "^",
}  # fmt: skip


class Tree(NamedTuple):
    """A node: an operator or function with its operands, a variable, or a number.

    Examples
    --------
    >>> tree = read("w - 0.5*w^0.5")
    >>> tree.text, tree.size, float(tree.value(w=16.0))
    ('w - 0.5*w^0.5', 7, 14.0)
    """

    head: str
    """Operator, function or variable; empty for a number."""
    operands: tuple[Tree, ...] = ()
    number: float = 0.0

    @property
    def size(self) -> int:
        """Number of nodes."""
        return 1 + sum(operand.size for operand in self.operands)

    @property
    def text(self) -> str:
        """The formula, with no more parentheses than it needs."""
        return self._text()[0]

    def value(self, w: Any, rtt: Any = 0.1, qdelay: Any = 0.0) -> Any:
        """Evaluate it for windows in packets, and a round trip and queueing delay in seconds."""
        return self.at({"w": w, "rtt": rtt, "qdelay": qdelay})

    def at(self, values: Mapping[str, Any]) -> Any:
        """Evaluate it for values of its variables, numbers or arrays.

        Examples
        --------
        >>> read("1.5/x^2", ["x"]).at({"x": np.array([1.0, 2.0])}).tolist()
        [1.5, 0.375]
        """
        if not self.head:
            return self.number
        if not self.operands:
            return values[self.head]
        operation: Any = BINARY.get(self.head) or UNARY[self.head]
        with np.errstate(all="ignore"):
            return operation(*(operand.at(values) for operand in self.operands))

    @property
    def heads(self) -> set[str]:
        """What occurs in it: operators, functions, variables, and "" for numbers.

        Examples
        --------
        >>> sorted(read("w - 0.5*qdelay").heads)
        ['', '*', '-', 'qdelay', 'w']
        """
        return {self.head}.union(*(operand.heads for operand in self.operands))

    def _text(self) -> tuple[str, int]:
        if not self.head:
            return (f"{self.number:.4g}", 4 if self.number >= 0 else 0)
        if not self.operands:
            return self.head, 4
        parts = [operand._text() for operand in self.operands]
        rank = _RANK.get(self.head)
        if rank is None:
            return f"{self.head}({', '.join(text for text, _ in parts)})", 4
        (left, left_rank), (right, right_rank) = parts
        if left_rank < rank or (self.head == "^" and left_rank <= rank):
            left = f"({left})"
        # A power in an exponent is put in parentheses too: readers disagree on which comes first.
        if right_rank < rank or (self.head in "-/^" and right_rank <= rank):
            right = f"({right})"
        space = " " if rank == 1 else ""
        return f"{left}{space}{self.head}{space}{right}", rank


def number(value: float) -> Tree:
    """Make a number, rounded to what its text shows.

    Examples
    --------
    >>> number(1 / 3).text
    '0.3333'
    """
    return Tree("", (), float(f"{value:.4g}"))


def read(text: str, variables: Sequence[str] = VARIABLES) -> Tree:
    """Read a formula.

    Parameters
    ----------
    text : str
        The formula.
    variables : sequence of str
        Names that it may have.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> read("max(1, w/2)").text
    'max(1, w/2)'
    """
    try:
        body = ast.parse(text.replace("^", "**"), mode="eval").body
        return _tree(body, variables)
    except (SyntaxError, KeyError, TypeError, ValueError):
        raise ValueError(
            invalid("formula", text, f"numbers, {', '.join(variables)}, {', '.join(_RANK)}, "
                    f"min, max and {', '.join(UNARY)}")
        ) from None  # fmt: skip


def _tree(node: ast.expr, variables: Sequence[str]) -> Tree:
    match node:
        case ast.Constant(value=bool()):
            raise TypeError
        case ast.Constant(value=int() | float() as value):
            return Tree("", (), float(value))
        case ast.Name(id=name) if name in variables:
            return Tree(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _tree(operand, variables)
            if not inner.head:
                return Tree("", (), -inner.number)
            return Tree("-", (Tree("", (), 0.0), inner))
        case ast.BinOp(left=left, op=operator, right=right):
            return Tree(_NODES[type(operator)], (_tree(left, variables), _tree(right, variables)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in UNARY:
            (only,) = args
            return Tree(name, (_tree(only, variables),))
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[first, *rest], keywords=[]):
            operands = [_tree(each, variables) for each in (first, *rest)]
            return functools.reduce(lambda left, right: Tree(name, (left, right)), operands)
        case _:
            raise TypeError


def folded(tree: Tree) -> Tree:
    """Return the formula with its constant parts computed.

    Examples
    --------
    >>> folded(read("w*(1 + 1) + 0*rtt")).text, folded(read("w - w/1")).text
    ('w*2', '0')
    """
    if not tree.operands:
        return tree
    operands = tuple(folded(operand) for operand in tree.operands)
    if all(not operand.head for operand in operands):
        value = float(tree._replace(operands=operands).value(1.0))
        return number(value) if np.isfinite(value) else Tree("", (), 1.0)
    if len(operands) == 2:
        left, right = operands
        known = _simple(tree.head, left, right)
        if known is not None:
            return known
    return tree._replace(operands=operands)


def _simple(head: str, left: Tree, right: Tree) -> Tree | None:
    zero = Tree("", (), 0.0)
    if head == "+":
        return right if _is(left, 0.0) else left if _is(right, 0.0) else None
    if head == "-":
        return zero if left == right else left if _is(right, 0.0) else None
    if head == "*":
        if _is(left, 0.0) or _is(right, 0.0):
            return zero
        return right if _is(left, 1.0) else left if _is(right, 1.0) else None
    if head == "/":
        return left if _is(right, 1.0) else None
    if head == "^":
        return left if _is(right, 1.0) else None
    return left if left == right else None


def _is(tree: Tree, value: float) -> bool:
    return not tree.head and tree.number == value
