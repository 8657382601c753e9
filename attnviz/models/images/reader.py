"""The reading of an image by a model: resized and normalised as preprocessor_config.json says, in patches."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.image import Image
from attnviz.models.images.drawn import can_be_drawn, drawn
from attnviz.models.images.resizing import FILTERS, resized
from attnviz.models.images.uploaded import UPLOADED, is_named
from attnviz.models.shapes.facts import Facts
from attnviz.models.tokenisers.tokeniser import json_file
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

FILE = "preprocessor_config.json"
MOST_PIXELS = 16_384
"""The height and the width of an image at most."""

FAULTS = Words(
    {
        "file": "{folder} holds no {file}, which says how images are resized and normalised; save it there with "
        "image_processor.save_pretrained",
        "value": "{file} says {name} is {given}; what is read here: {known}",
        "text": "this model reads images: give an array of shape (height, width, 3), as numpy.asarray(image) makes of "
        "one, not {given}",
        "shape": "the image has shape {shape}; give one of shape (height, width, 3), with red, green and blue",
        "numbers": "the image holds {kind} from {low:g} to {high:g}; give uint8 from 0 to 255, or floats from 0 to 1",
        "size": "the image is {height} × {width} pixels, and this model reads {rows} × {columns} and does not resize; "
        "resize the image first",
        "patches": "an image of {height} × {width} pixels cannot be cut into patches of {rows} × {columns}",
        "fit": "config.json says {height} × {width} pixels in patches of {rows} × {columns}, and the files hold {n} "
        "positions and a projection of {numbers} numbers; they do not belong together",
        "of_words": "this run has no image; a model of images is called with one, as in model(image)",
    }
)


@dataclass(frozen=True)
class ImageReader:
    """A reader of the images of one model.

    size      height and width of what it reads, `patch` those of a patch
    resample  how an image of another size is resized, a row of FILTERS; None where it is not
    factor    what numbers from 0 to 255 are multiplied by;  `mean` and `std` of each colour are taken away and divided
    """

    size: tuple[int, int]
    patch: tuple[int, int]
    resample: int | None
    factor: float
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __call__(self, image: Any) -> Image:
        """Return an image as the model reads it; raise ConfigError for what is none, and for one that does not fit.

        A text names what is drawn, see `drawn`, or what was uploaded; such an image has it as its name.
        """
        if isinstance(image, Image):
            return image
        if isinstance(image, str):
            named = UPLOADED.get(image.strip()) if is_named(image) else drawn(image, *self.size)
            return replace(self(named), name=image)
        array = checked(image)
        height, width = self.size
        if array.shape[:2] != self.size:
            if self.resample is None:
                rows, columns = array.shape[:2]
                fault = {"height": rows, "width": columns, "rows": height, "columns": width}
                raise ConfigError(FAULTS["size"].format(**fault))
            array = resized(array, height, width, self.resample)
        levels = array.astype(float) if array.dtype == np.uint8 else array * 255.0
        pixels = (levels * self.factor - np.array(self.mean)) / np.array(self.std)
        return made(levels / 255.0, pixels, self.patch)


def can_be_named(text: str) -> bool:
    """Return whether a text names an image: shapes that can be drawn, or one that was uploaded."""
    return is_named(text) or can_be_drawn(text)


def made(array: Array, pixels: Array, patch: tuple[int, int]) -> Image:
    """Return an image of these arrays, as it is drawn and as the model reads it, which stay as they are."""
    for each in (array, pixels):
        each.flags.writeable = False
    return Image(f"image {hashlib.sha256(pixels.tobytes()).hexdigest()[:16]}", array, pixels, patch)


def no_words(text: str) -> tuple[list[int], list[str]]:
    """Read a text as tokens, which a model of images does not: raise ConfigError."""
    raise ConfigError(FAULTS["of_words"])


def read(config: Mapping[str, Any], folder: Path, tables: Mapping[str, Array]) -> ImageReader:
    """Return the reader of a folder's model. Raises ConfigError for what is missing, or is not read here.

    tables  its `patches`, the projection, and its `positions`, which have to fit config.json
    """
    size, patch = sizes(config)
    _check_fit(size, patch, tables)
    path = folder / FILE
    if not path.is_file():
        raise ConfigError(FAULTS["file"].format(folder=str(folder), file=FILE))
    said = json_file(path)
    if said.get("do_center_crop") or said.get("do_pad"):
        raise _odd("do_center_crop" if said.get("do_center_crop") else "do_pad", True, "false")
    resizes, rescales, normalises = (_switch(said, f"do_{name}") for name in ("resize", "rescale", "normalize"))
    factor = said.get("rescale_factor", 1 / 255)
    if rescales and not _is_number(factor):
        raise _odd("rescale_factor", factor, "a number")
    mean, std = (_colours(said, name) if normalises else usual for name, usual in PLAIN)
    return ImageReader(size, patch, _resample(said, size) if resizes else None, factor if rescales else 1.0, mean, std)


def sizes(config: Mapping[str, Any]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return height and width of an image and of a patch, as config.json says them."""
    facts = Facts(config)
    size, patch = (_pair(facts, config.get(name), name, usual) for name, usual in SIZES)
    return size, patch


SIZES = (("image_size", 224), ("patch_size", 16))
PLAIN = (("image_mean", (0.0,) * 3), ("image_std", (1.0,) * 3))


def _check_fit(size: tuple[int, int], patch: tuple[int, int], tables: Mapping[str, Array]) -> None:
    rows, columns = (whole // part for whole, part in zip(size, patch))
    fault = {"height": size[0], "width": size[1], "rows": patch[0], "columns": patch[1]}
    if any(whole % part for whole, part in zip(size, patch)):
        raise ConfigError(FAULTS["patches"].format(**fault))
    n, numbers = len(tables["positions"]), len(tables["patches"])
    if n != 1 + rows * columns or numbers != 3 * patch[0] * patch[1]:
        raise ConfigError(FAULTS["fit"].format(n=n, numbers=numbers, **fault))


def _pair(facts: Facts, value: Any, name: str, usual: int) -> tuple[int, int]:
    """Return a height and a width of a config.json, which may say one number for both."""
    pair = value if isinstance(value, (list, tuple)) else [usual if value is None else value] * 2
    if len(pair) != 2 or not all(type(each) is int and 1 <= each <= MOST_PIXELS for each in pair):
        raise facts.odd(name, value, f"a number from 1 to {MOST_PIXELS}, or two")
    return pair[0], pair[1]


def _resample(said: Mapping[str, Any], size: tuple[int, int]) -> int:
    """Return the filter of a processor that resizes; it has to resize to what the model reads."""
    wanted, resample = said.get("size", {"height": 224, "width": 224}), said.get("resample", 2)
    pair = (wanted.get("height"), wanted.get("width")) if isinstance(wanted, dict) else (wanted, wanted)
    if pair != size:
        raise _odd("size", wanted, '{{"height": {}, "width": {}}}'.format(*size))
    if type(resample) is not int or resample not in FILTERS:
        raise _odd("resample", resample, "2 (bilinear), 3 (bicubic)")
    return resample


def _switch(said: Mapping[str, Any], name: str) -> bool:
    value = said.get(name, True)
    if not isinstance(value, bool):
        raise _odd(name, value, "true, false")
    return value


def _colours(said: Mapping[str, Any], name: str) -> tuple[float, ...]:
    """Return a number for each colour."""
    value = said.get(name, [0.5] * 3)
    numbers = value if isinstance(value, list) else [value] * 3
    if len(numbers) != 3 or not all(map(_is_number, numbers)) or (name == "image_std" and 0 in numbers):
        raise _odd(name, value, "three numbers, none of them 0" if name == "image_std" else "three numbers")
    return tuple(map(float, numbers))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and bool(np.isfinite(value))


def _odd(name: str, value: Any, known: str) -> ConfigError:
    return ConfigError(FAULTS["value"].format(file=FILE, name=name, given=shorten(str(value)), known=known))


def checked(image: Any) -> Array:
    """Return an image as an array of uint8 or of floats from 0 to 1. Raises ConfigError for anything else."""
    if image is None or isinstance(image, (str, bytes)):
        raise ConfigError(FAULTS["text"].format(given=shorten(image, 60)))
    try:
        array = np.asarray(image)
    except (TypeError, ValueError):
        raise ConfigError(FAULTS["text"].format(given=type(image).__name__)) from None
    if array.dtype.kind not in "uifb":
        raise ConfigError(FAULTS["text"].format(given=type(image).__name__))
    if array.ndim != 3 or array.shape[2] != 3 or not all(1 <= n <= MOST_PIXELS for n in array.shape[:2]):
        raise ConfigError(FAULTS["shape"].format(shape=array.shape))
    if array.dtype == np.uint8:
        return array
    low, high = float(array.min()), float(array.max())
    if array.dtype.kind != "f" or not (low >= 0.0 and high <= 1.0):
        raise ConfigError(FAULTS["numbers"].format(kind=array.dtype, low=low, high=high))
    return array.astype(float)
