"""Digits on every colour of every scale, by the definition of contrast in WCAG 2.2."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz.pictures.colours import DARK, SHARE, SIGNED
from attnviz.pictures.stage_record import Scale
from attnviz.pictures.static.colour_scale import colour, contrast
from tests.support.cases import for_each

ENOUGH = 4.5


def luminance(hexadecimal: str) -> float:
    """Relative luminance of sRGB."""
    parts = np.array([int(hexadecimal[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def ratio(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@for_each("colours", [SIGNED, SHARE, DARK[SIGNED], DARK[SHARE]])
def test_every_digit_can_be_read_on_its_cell(colours: tuple[str, ...]) -> None:
    scale = Scale(0.0, 1.0, colours)
    grounds = [colour(scale, share) for share in np.linspace(0, 1, 401)]
    assert min(ratio(ground, contrast(ground)) for ground in grounds) >= ENOUGH


def test_the_measure_knows_what_is_known() -> None:
    assert ratio("#000000", "#ffffff") == pytest.approx(21.0)
    assert ratio("#777777", "#ffffff") < ENOUGH < ratio("#767676", "#ffffff")
