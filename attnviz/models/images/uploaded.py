"""Images that visitors brought, by a name that stands in the place of a sentence; a few of them are kept.

The name is made of a hash of all numbers, so that one image has one name, and a name that is not known says nothing.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict

from attnviz.arrays import Array
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "gone": "the image that this setting names was uploaded, which no link holds, and is kept here no longer; "
        "upload it again, or name shapes, such as “{example}”",
    }
)
EXAMPLE = "red circle"
MOST = 32
"""The images that are kept, of all visitors together; those that were wanted longest ago go first."""

LONGEST = 512
"""The pixels along the longer side of a kept image, at most."""


class KeptImages:
    """Images by their names. Threads share it."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._images: OrderedDict[str, Array] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, image: Array) -> str:
        """Keep an image, (height, width, 3) of uint8, and return its name.

        >>> import numpy as np
        >>> is_named(KeptImages().keep(np.zeros((2, 2, 3), np.uint8)))
        True
        """
        name = f"upload {hashlib.sha256(repr(image.shape).encode() + image.tobytes()).hexdigest()[:20]}"
        image.flags.writeable = False
        with self._lock:
            self._images[name] = image
            self._images.move_to_end(name)
            while len(self._images) > self.most:
                self._images.popitem(last=False)
        return name

    def get(self, name: str) -> Array:
        """Return the image of a name. Raises ConfigError for one that is not kept any more, or never was."""
        with self._lock:
            image = self._images.get(name)
            if image is None:
                raise ConfigError(FAULTS["gone"].format(example=EXAMPLE))
            self._images.move_to_end(name)
            return image


UPLOADED = KeptImages()
"""The images of all visitors of this process."""


def is_named(text: str) -> bool:
    """Return whether a text is the name of an image that was uploaded, kept or not.

    >>> is_named("upload 0123456789abcdef0123"), is_named("red circle")
    (True, False)
    """
    return re.fullmatch(r"upload [0-9a-f]{20}", text.strip()) is not None
