"""A picture that a visitor brings, as an array: PNG or JPEG, in bounded memory and time."""

from __future__ import annotations

import io
import struct
import threading

import numpy as np
from PIL import Image, ImageOps

from attnviz.arrays import Array
from attnviz.models.images.uploaded import LONGEST
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

MOST_BYTES, MOST_PIXELS = 5_000_000, 16_000_000
_one_at_a_time = threading.Lock()
FAULTS = Words(
    {
        "kind": "the file is no picture that can be read here; upload a PNG or a JPEG",
        "bytes": "the file has {n:,} bytes; a picture may have {most:,}",
        "pixels": "the picture has more than the {most:,} pixels that are read here; make it smaller first",
        "damaged": "the picture is damaged, and cannot be read to its end",
    }
)


def read(data: bytes) -> Array:
    """Return a PNG or a JPEG as (height, width, 3) of uint8, made smaller where it is large; what is clear is white.

    Its size is read before its pixels are, and one picture at a time: the largest takes 90 MB until it is smaller.

    Raises ConfigError for another kind of file, a damaged one, and one with too many bytes or pixels.
    """
    if len(data) > MOST_BYTES:
        raise ConfigError(FAULTS["bytes"].format(n=len(data), most=MOST_BYTES))
    try:
        image = Image.open(io.BytesIO(data), formats=("PNG", "JPEG"))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ConfigError(FAULTS["pixels"].format(most=MOST_PIXELS)) from None
    except (OSError, SyntaxError, ValueError, struct.error):
        raise ConfigError(FAULTS["kind"]) from None
    if image.width * image.height > MOST_PIXELS:
        raise ConfigError(FAULTS["pixels"].format(most=MOST_PIXELS))
    try:
        with _one_at_a_time, image:
            image.draft("RGB", (LONGEST, LONGEST))
            small = _smaller(image).convert("RGBA")
            ground = Image.new("RGBA", small.size, "white")
            return np.array(Image.alpha_composite(ground, small).convert("RGB"), dtype=np.uint8)
    except (OSError, SyntaxError, ValueError, struct.error, EOFError):
        raise ConfigError(FAULTS["damaged"]) from None


def _smaller(image: Image.Image) -> Image.Image:
    """Return an image turned as its camera says, and made smaller if it is large."""
    if image.mode.startswith("I"):  # 16 bits, which Pillow cuts at 255 and does not make smaller
        proper = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
        proper.info.update(image.info)
    elif image.mode in ("P", "1"):  # numbers of colours, which do not mix
        proper = image.convert("RGBA" if image.mode == "P" else "L")
    else:
        proper = image
    proper.thumbnail((LONGEST, LONGEST), Image.Resampling.BICUBIC)
    return ImageOps.exif_transpose(proper)
