"""The type of a field that holds something else than it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

Held = TypeVar("Held")
Taken = TypeVar("Taken")


class Holds(Generic[Held, Taken]):
    """The type of a field that holds the one and takes the other too, which the record's own check turns into it.

    Checkers read it as a descriptor, which is how a dataclass says so; the field itself is an ordinary one.
    """

    if TYPE_CHECKING:

        def __get__(self, record: Any, owner: Any = None) -> Held: ...

        def __set__(self, record: Any, value: Held | Taken) -> None: ...
