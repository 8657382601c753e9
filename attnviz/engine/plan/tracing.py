"""The functions that the page of a layer calls, and the plan that it leaves behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from attnviz.engine.plan.values import Axes, Value, bias_line
from attnviz.engine.records.step_specs import STEPS


@dataclass(frozen=True)
class Has:
    """The parts that a layer has: what decides which steps there are. Numbers of a setting decide nothing.

    weights          the names of biases and other parameters that are there, where it depends on the setting
    score_weights    the names of the score's own parameters, as steps, with their axes in one head
    mask_by_head     whether each head has a mask of its own
    bias_weights     the names of the learned numbers of the bias, as steps; a score may have the same
    normaliser_weights   those of the normaliser
    norm_behind      a norm of what a block hands on, before it is added
    rotated_by       what rotated queries and keys are multiplied by
    clipped          what a gate lets through is clipped, and 1 is added
    parallel         the feed-forward block reads what attention read
    positions, token_types   vectors that are added to those of the tokens
    """

    weights: frozenset[str] = frozenset()
    score_weights: tuple[tuple[str, Axes], ...] = ()
    norm_before: bool = False
    norm_after: bool = False
    norm_behind: bool = False
    rope: bool = False
    rotated_by: float = 1.0
    softcap: bool = False
    allowed: bool = True
    mask_by_head: bool = False
    bias: bool = False
    bias_weights: tuple[str, ...] = ()
    normaliser_weights: tuple[str, ...] = ()
    tied: frozenset[str] = frozenset()
    output: bool = True
    residual: bool = False
    feed_forward: bool = False
    gate: bool = False
    clipped: bool = False
    cross: bool = False
    parallel: bool = False
    positions: bool = False
    token_types: bool = False


def axes_of_mask(*, by_head: bool) -> Axes:
    """Return the axes of a mask: it is one for all heads, or each has its own."""
    axes = STEPS["allowed"].axes
    return ("head", *axes) if by_head else axes


@dataclass
class Page:
    """The functions that the page of a layer calls; it keeps steps, weights and what is given, in their order."""

    has: Has
    steps: dict[str, Value] = field(default_factory=dict)

    def step(self, name: str, value: Value) -> Value:
        """Name a value as a run records it."""
        return self._kept(Value("step", (value,), STEPS[name].axes, name))

    def weight(self, name: str, *read: Value, tied: Value | None = None) -> Value | None:
        """Return a matrix or a bias that multiplies or is added to what is read; None for one that is not there.

        `tied` is the weight that this one is, one of each group of heads, where keys are made as queries are.
        """
        if name not in self.has.weights:
            return None
        same = (tied,) if tied is not None and name in self.has.tied else ()
        return self._kept(Value("weight", same, STEPS[name].axes, name, read=read))

    def score_weights(self, Q: Value, K: Value) -> list[Value]:
        """Return the score's own parameters, one of each for every head."""
        return [
            self._kept(Value("weight", (), ("head", *axes), name, read=(Q, K))) for name, axes in self.has.score_weights
        ]

    def learned(self, names: tuple[str, ...], Q: Value, K: Value) -> list[Value]:
        """Return numbers that a line learns, one a head; one that a line before it learns too is the same number."""
        axes = "head", "number"
        return [self.steps.get(name) or self._kept(Value("weight", (), axes, name, read=(Q, K))) for name in names]

    def learned_bias(self, Q: Value, K: Value) -> Value | None:
        """Return the bias with the numbers that it learns."""
        own = self.learned(self.has.bias_weights, Q, K)
        return self.step("bias", bias_line(Q, K, *own)) if own else None

    def given(self, name: str) -> Value | None:
        """Return the mask or the bias; None where there is none."""
        if not getattr(self.has, name) or (name == "bias" and self.has.bias_weights):
            return None
        axes = axes_of_mask(by_head=self.has.mask_by_head) if name == "allowed" else STEPS[name].axes
        return self._kept(Value("given", (), axes, name))

    def scale(self) -> Value:
        """Return the factor on the scores, a number for each head."""
        return Value("setting", (), ("head",), "scale")

    def setting(self, name: str) -> Value:
        """Return a number of the setting by its name, so that another number is no other plan."""
        return Value("setting", (), (), name)

    def _kept(self, value: Value) -> Value:
        self.steps[value.name] = value
        return value


class Plan(Mapping[str, Value]):
    """The steps of a layer by name, in the order in which a run records them; `print` shows them."""

    def __init__(self, has: Has, steps: Mapping[str, Value]) -> None:
        self.has, self._steps = has, dict(steps)

    def __getitem__(self, name: str) -> Value:
        return self._steps[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    def __hash__(self) -> int:
        return id(self)  # a plan is made once for its parts, so what follows from it can be kept by it

    @property
    def weights(self) -> list[str]:
        """The names of the matrices and biases."""
        return [name for name, value in self.items() if value.op == "weight"]

    @property
    def settings(self) -> list[str]:
        """The names of the numbers of the setting that the layer reads."""
        return list(dict.fromkeys(name for value in self.values() for arg in value.args for name in _settings(arg)))

    def __str__(self) -> str:
        left = {name: f"{name} [{', '.join(value.axes)}]" for name, value in self.items()}
        width = max(map(len, left.values()), default=0)
        return "\n".join(
            f"{left[name]:{width}} = {value.args[0]}" if value.args else f"{left[name]:{width}}   {value.op}"
            for name, value in self.items()
        )


def _settings(value: Value) -> list[str]:
    """Return the settings in what a step is made of, up to what has a name of its own."""
    if value.op == "setting":
        return [value.name]
    return [] if value.name else [name for arg in value.args for name in _settings(arg)]
