"""Sentences for a step or a layer that a run does not have: what there is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeVar, overload

from attnviz.settings.language import translate

Layer = TypeVar("Layer")


def no_step(name: str, names: Iterable[str]) -> KeyError:
    """Return the error of a name under which nothing was recorded."""
    return KeyError(
        translate("there is no step {name}; choose one of: {names}", name=repr(name), names=", ".join(names))
    )


def no_head(step: Any, head: int) -> IndexError:
    """Return the error of a head that a step does not have."""
    facts = {"at": head, "n": step.shape[0], "last": step.shape[0] - 1}
    return IndexError(translate("there is no head {at}; this has {n}, choose 0 to {last}", **facts))


def no_attribute(record: object, name: str, steps: Iterable[str]) -> AttributeError:
    """Return the error of an attribute that there is not, which may be a step."""
    kind = type(record).__name__
    if name in steps:
        facts = {"kind": kind, "name": name, "quoted": repr(name)}
        return AttributeError(translate("a {kind} has no attribute {name}; write [{quoted}] for its step", **facts))
    return AttributeError(f"{kind!r} object has no attribute {name!r}")


class Layers(tuple[Layer, ...]):
    """The steps of each layer, counted from 0, which says how many there are to who asks for another."""

    __slots__ = ()

    @overload
    def __getitem__(self, at: SupportsIndex) -> Layer: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Layer, ...]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> Layer | tuple[Layer, ...]:
        if isinstance(at, str):
            raise TypeError(translate("layers are counted from 0: write trace.layers[0][{name}]", name=repr(at)))
        try:
            return super().__getitem__(at)
        except IndexError:
            asked = translate(
                "there is no layer {at}; this has {n}, choose 0 to {last}", at=at, n=len(self), last=len(self) - 1
            )
            raise IndexError(asked) from None
