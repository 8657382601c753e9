"""Images drawn from words, 'red circle, blue square': the same numbers on every machine, for a page that has no image.

Shapes stand in the order in which they are named, side by side or in rows, on a light ground.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np

from attnviz.arrays import Array
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "word": "this model reads images, and {given} cannot be drawn: name shapes, such as “{example}”, made of the "
        "colours {colours} and the shapes {shapes}",
        "many": "the image has {n} shapes; name 1 to {most}",
    }
)
GROUND = (236, 236, 230)
COLOURS = {
    "black": (24, 24, 28),
    "red": (204, 48, 42),
    "green": (46, 139, 70),
    "blue": (42, 90, 190),
    "yellow": (240, 196, 40),
    "white": (255, 255, 255),
}
SHAPES: dict[str, Callable[[Array, Array], Array]] = {
    "circle": lambda x, y: x * x + y * y <= 0.64,
    "square": lambda x, y: np.maximum(abs(x), abs(y)) <= 0.7,
    "triangle": lambda x, y: (y <= 0.7) & (y >= 2 * abs(x) - 0.7),
    "ring": lambda x, y: (x * x + y * y <= 0.64) & (x * x + y * y >= 0.2),
    "cross": lambda x, y: (np.minimum(abs(x), abs(y)) <= 0.25) & (np.maximum(abs(x), abs(y)) <= 0.8),
    "stripes": lambda x, y: (np.maximum(abs(x), abs(y)) <= 0.8) & (np.floor((y + 0.8) * 5) % 2 == 0),
}
"""Whether points are in a shape, which fills most of the square from -1 to 1; y goes down."""

UNSAID = ("a", "an", "the", "and", "on", "beside")
MOST = 9
EXAMPLES = ("red circle", "blue square, yellow triangle", "green ring, black cross, red stripes")
"""Images that a page offers."""


def shapes_of(text: str) -> list[tuple[str, str]]:
    """Return the colour and the name of each shape that a text names; one without a colour is black.

    >>> shapes_of("a red circle and a square")
    [('red', 'circle'), ('black', 'square')]

    Raises ConfigError for a word that is neither, for a colour without a shape, and for none or too many shapes.
    """
    found, colour = list[tuple[str, str]](), ""
    for word in re.findall(r"[^\s,.;]+", text.lower()):
        if word in COLOURS and not colour:
            colour = word
        elif word in SHAPES:
            found.append((colour or "black", word))
            colour = ""
        elif word not in UNSAID:
            raise _odd(word)
    if colour or not found:
        raise _odd(colour or text)
    if len(found) > MOST:
        raise ConfigError(FAULTS["many"].format(n=len(found), most=MOST))
    return found


def _odd(given: str) -> ConfigError:
    words = {"colours": ", ".join(COLOURS), "shapes": ", ".join(SHAPES), "example": EXAMPLES[1]}
    return ConfigError(FAULTS["word"].format(given=shorten(given, 40), **words))


def can_be_drawn(text: str) -> bool:
    """Return whether a text names what can be drawn.

    >>> can_be_drawn("red circle"), can_be_drawn("the cat sat")
    (True, False)
    """
    try:
        return bool(shapes_of(text))
    except ConfigError:
        return False


def drawn(text: str, height: int, width: int) -> Array:
    """Return the image that a text names: (height, width, 3), uint8. Raises ConfigError as `shapes_of`.

    >>> drawn("red square", 4, 4)[1, 1].tolist(), drawn("red square", 4, 4)[0, 0].tolist()
    ([204, 48, 42], [236, 236, 230])
    """
    shapes = shapes_of(text)
    columns = math.ceil(math.sqrt(len(shapes)))
    rows = math.ceil(len(shapes) / columns)
    image = np.empty((height, width, 3), dtype=np.uint8)
    image[:] = GROUND
    y, x = np.mgrid[0:height, 0:width] + 0.5
    size = min(height / rows, width / columns) / 2
    for at, (colour, name) in enumerate(shapes):
        row, column = divmod(at, columns)
        middle = (row + 0.5) * height / rows, (column + 0.5) * width / columns
        image[SHAPES[name]((x - middle[1]) / size, (y - middle[0]) / size)] = COLOURS[colour]
    return image
