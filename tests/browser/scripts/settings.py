"""A page with one field of every kind and no attention, for the tests of the controls and of the address."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from attnviz.settings import faults, fields
from attnviz.settings.rows import Choice, table
from attnviz.ui.session import browser_history, session_state, widgets


def row(name: str, *uses: str) -> Choice:
    return Choice(name, name.title(), len, "x", f"What {name} does.", "-", uses)


DISHES = table(row("soup"), row("curry", "heat"), row("stew"))
EXTRAS = table(row("none"), row("bread"), row("salad", "oil"), row("rice"))


def divisors(values: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(n for n in range(1, 25) if values["guests"] % n == 0)


@dataclass(frozen=True)
class Meal:
    """What is cooked; the tables must divide the guests, and a cold meal must not have ticket 13."""

    name: str = fields.text("A meal", label="Name", longest=60, group="Top")
    notes: str = fields.text("", label="Notes", longest=9_000, lines=3)
    guests: int = fields.number(4, 1, 24, label="Guests", group="Top")
    tables: int | None = fields.number(None, 1, 24, label="Tables", none="one a guest", offered=divisors)
    pot: int = fields.number(8, 1, 64, label="Pot", stops=(1, 2, 4, 8, 16, 32, 64))
    ticket: int = fields.number(0, 0, 999_999, label="Ticket")
    heat: float = fields.number(1.0, 0.0, 5.0, label="Heat", step=0.1, integer=False)
    salt: float | None = fields.number(None, 0.0, 1e6, label="Salt", step=0.5, integer=False, none="to taste")
    warm: bool = fields.switch(True, label="Warm")
    dish: str = fields.option(DISHES, "soup", label="Dish", help="The main thing.")
    extras: tuple[str, ...] = fields.options(EXTRAS, "none", label="Extras")
    oil: float = fields.number(0.0, -1e6, 1e6, label="Oil", step=0.1, integer=False)
    spoons: int | tuple[int, ...] = fields.widths(2, 1, 9, most=6, label="Spoons")

    def __post_init__(self) -> None:
        fields.check(self)
        if self.ticket == 13 and not self.warm:
            raise faults.ConfigError("ticket is 13; a cold meal takes any other")


@dataclass(frozen=True)
class Look:
    """What is looked at."""

    plate: int = fields.number(1, 1, 24, label="Plate")

    def __post_init__(self) -> None:
        fields.check(self)


browser_history.listen()
(meal, look), problems = session_state.read(Meal, Look)
st.session_state["rings"] = st.session_state.get("rings", 0) + st.button("Ring")
draft = widgets.draw(meal, group="Top")
draft = widgets.draw(draft, skip=("name", "guests"))
look = widgets.draw(look)
try:
    meal = widgets.checked(draft)
except faults.ConfigError as error:
    st.text(f"Refused: {error}")
left_out = session_state.write(meal, look)
for problem in problems:
    st.text(f"Problem: {problem}")
st.text(f"Left out: {', '.join(left_out)}")
st.text(f"Rung {st.session_state['rings']}")
st.text(f"Shown {json.dumps(asdict(meal) | asdict(look))}")
