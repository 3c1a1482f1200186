"""Policies: what an agent has learned, and the window rule that it is then.

A policy is a small feed-forward network in plain numbers; training needs no more of it than a
vector of parameters. `Policy.save` writes a rule file, which `cwndlab compare`, scenarios and
sweeps name as they name any rule in Python: ``agent.py:Trained``.
"""

from __future__ import annotations

import pprint
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cwndlab import native
from cwndlab.custom_rules import Leave
from cwndlab.errors import RuleError
from cwndlab.files import write_whole
from cwndlab.gym.interface import Interface
from cwndlab.gym.step import Step
from cwndlab.message import invalid, unknown

Array = NDArray[Any]

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
}

FILE = '''"""{about}"""

from cwndlab.gym import PolicyRule


class {name}(PolicyRule):
    """The policy as a rule."""

    policy = {policy}
'''


@dataclass(frozen=True)
class Layer:
    """A layer of a network: ``activation(weights @ input + bias)``."""

    weights: Array
    bias: Array
    activation: str = "linear"


@dataclass(frozen=True)
class Policy:
    """A network from observations to an action.

    Attributes
    ----------
    interface : Interface
        What the policy observes and sets, and how often.
    layers : sequence of Layer
        The last one has one output, which is limited to the range of actions.
    center, scale : sequence of float, optional
        The network sees (observation - center) / scale, each within -10 and 10.

    Examples
    --------
    >>> policy = Policy.of_parameters(Interface(observe=("rtt_ratio",)), [-1.0, 1.5])
    >>> float(policy(np.array([1.0])))
    0.5
    """

    interface: Interface
    layers: Sequence[Layer]
    center: Sequence[float] = field(default=())
    scale: Sequence[float] = field(default=())

    def __post_init__(self) -> None:
        inputs = len(self.interface.observe)
        for name in ("center", "scale"):
            if len(getattr(self, name)) not in (0, inputs):
                given = str(list(getattr(self, name)))
                raise RuleError(invalid(name, given, f"{inputs} numbers, one per observation"))
        for number, layer in enumerate(self.layers):
            if layer.activation not in ACTIVATIONS:
                raise RuleError(
                    unknown(f"layers[{number}].activation", layer.activation, ACTIVATIONS)
                )
            outputs = len(layer.bias)
            if layer.weights.shape != (outputs, inputs):
                expected = f"{outputs} rows of {inputs} numbers"
                raise RuleError(
                    invalid(f"layers[{number}].weights", str(layer.weights.shape), expected)
                )
            inputs = outputs
        if not self.layers or inputs != 1:
            raise RuleError(invalid("layers", len(self.layers), "layers, the last with one output"))

    def __call__(self, observation: Array) -> Array:
        """Return the action for an observation, or those for many along the first axes."""
        found = np.asarray(observation, float)
        if len(self.scale):
            center = np.asarray(self.center) if len(self.center) else 0.0
            found = np.clip((found - center) / np.asarray(self.scale), -10, 10)
        for layer in self.layers:
            found = ACTIVATIONS[layer.activation](found @ layer.weights.T + layer.bias)
        return np.clip(found[..., 0], *self.interface.action_range)

    @classmethod
    def of_parameters(
        cls,
        interface: Interface,
        parameters: Sequence[float] | Array,
        hidden: Sequence[int] = (),
        *,
        center: Sequence[float] = (),
        scale: Sequence[float] = (),
    ) -> Policy:
        """Make a policy of a vector: for each layer its weights row by row, then its bias.

        Layers of `hidden` units have tanh; without any the policy is linear.

        Raises
        ------
        RuleError
            If the number of parameters is another one than `Policy.parameter_count`.
        """
        vector = np.asarray(parameters, float)
        expected = cls.parameter_count(interface, hidden)
        if vector.shape != (expected,):
            raise RuleError(invalid("parameters", len(vector), f"{expected} numbers"))
        layers: list[Layer] = []
        begin = 0
        for inputs, outputs, is_last in _shapes(interface, hidden):
            weights = vector[begin : begin + inputs * outputs].reshape(outputs, inputs)
            begin += inputs * outputs
            bias = vector[begin : begin + outputs]
            begin += outputs
            layers.append(Layer(weights, bias, "linear" if is_last else "tanh"))
        return cls(interface, layers, center, scale)

    @staticmethod
    def parameter_count(interface: Interface, hidden: Sequence[int] = ()) -> int:
        """Return the number of parameters of `of_parameters`."""
        return sum((inputs + 1) * outputs for inputs, outputs, _ in _shapes(interface, hidden))

    @classmethod
    def from_dict(cls, policy: Mapping[str, Any]) -> Policy:
        """Read a policy from plain data, as `to_dict` writes it."""
        interface = Interface.of(
            policy["observe"], policy["action"], policy["every"], policy["limits"]
        )
        layers = [
            Layer(np.array(layer["weights"], float), np.array(layer["bias"], float),
                  layer["activation"])
            for layer in policy["layers"]
        ]  # fmt: skip
        return cls(interface, layers, policy.get("center", ()), policy.get("scale", ()))

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain data."""
        return {
            **self.interface.to_dict(),
            "center": [float(value) for value in self.center],
            "scale": [float(value) for value in self.scale],
            "layers": [
                {
                    "weights": layer.weights.tolist(),
                    "bias": layer.bias.tolist(),
                    "activation": layer.activation,
                }
                for layer in self.layers
            ],
        }

    def save(self, path: str | Path, name: str = "Trained", about: str = "") -> Path:
        """Write the policy as a rule file, whose class is `name`; `about` is its first line.

        Raises
        ------
        RuleError
            If the name is not one of a class, or the path does not end in ``.py``.
        """
        path = Path(path)
        if path.suffix != ".py":
            raise RuleError(invalid("path", path, "a file that ends in .py"))
        if not name.isidentifier():
            raise RuleError(invalid("name", name, "the name of a class"))
        about = about or f"A policy of cwndlab.gym; as a rule: {path.name}:{name}."
        policy = pprint.pformat(self.to_dict(), sort_dicts=False, width=88, compact=True)
        text = FILE.format(about=about, name=name, policy=policy.replace("\n", "\n    "))
        write_whole(path, text.encode())
        return path


def _shapes(interface: Interface, hidden: Sequence[int]) -> list[tuple[int, int, bool]]:
    """Return inputs and outputs of each layer, and whether it is the last one."""
    widths = [len(interface.observe), *hidden, 1]
    return [(widths[i], widths[i + 1], i == len(widths) - 2) for i in range(len(widths) - 1)]


class PolicyRule:
    """A window rule that decides as an agent does, with the same statistics at the same instants.

    A run of it has the trace hash of an episode in which its policy acts on one flow. A subclass
    has the plain data of a `Policy` as `policy`; or it has an `interface` and decides by `act`, in
    whatever way.
    """

    policy: ClassVar[Mapping[str, Any] | None] = None
    interface: Interface
    needs: ClassVar[tuple[str, ...]] = ("delivery_rate", "exact_marks", "recovery")

    def __init__(self) -> None:
        if self.policy is not None:
            self._network = Policy.from_dict(self.policy)
            self.interface = self._network.interface
        self._observer = native.Observer(*self.interface.interval)

    def act(self, observation: Array) -> Any:
        """Return the action for an observation."""
        return self._network(observation)

    def increase(self, cwnd: float, ack: native.Ack) -> float:
        """Decide if that is due, and return the window of the last decision."""
        self._decide(ack)
        return self._observer.on_ack(cwnd, ack)

    def slow_start(self, cwnd: float, ack: native.Ack) -> Leave:
        """Leave slow start: the policy decides alone."""
        return Leave(self.increase(cwnd, ack))

    def decrease(self, cwnd: float, signal: Literal["loss", "ecn", "timeout"]) -> float:
        """Count the loss, and keep the window."""
        return self._observer.on_congestion(cwnd, signal)

    def on_mark(self, _cwnd: float, ack: native.Ack) -> bool:
        """Count the mark: it reduces nothing by itself."""
        self._decide(ack)
        self._observer.on_mark(ack)
        return False

    @property
    def pacing_rate(self) -> Callable[[], float | None] | None:
        """The function that returns the pacing rate; none if the policy sets windows."""
        return self._rate if self.interface.control.paced else None

    def _rate(self) -> float | None:
        return self._observer.pacing_rate

    def _decide(self, ack: native.Ack) -> None:
        while (data := self._observer.due(ack)) is not None:
            step = Step.from_bytes(data)
            action = np.asarray(self.act(self.interface.observation(step)), np.float32).item()
            self._observer.act(*self.interface.commands(action, step))

    def __deepcopy__(self, memo: dict[int, Any]) -> PolicyRule:
        # The endpoint copies a rule before a reduction, for an undo, which must not take back what
        # was observed. A rule that has seen nothing is a template: each flow gets its own.
        if self._observer.has_started:
            return self
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._observer = native.Observer(*self.interface.interval)
        return new


class Agent:
    """The rule of a flow that an agent controls, by its name ``cwndlab.gym:Agent`` in a scenario.

    It acts in the environments of `cwndlab.gym` alone.
    """

    needs: ClassVar[tuple[str, ...]] = ("recovery",)

    def increase(self, _cwnd: float, _ack: native.Ack) -> float:
        """Raise: nobody acts."""
        raise RuleError("rule Agent acts in an environment only: expected cwndlab.gym.make")

    def slow_start(self, cwnd: float, ack: native.Ack) -> float:
        """Raise: nobody acts."""
        return self.increase(cwnd, ack)

    def decrease(self, cwnd: float, _signal: Literal["loss", "ecn", "timeout"]) -> float:
        """Return the window unchanged."""
        return cwnd
