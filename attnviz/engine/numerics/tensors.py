"""Arrays of other libraries as NumPy arrays of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "meta": "{name} is on the device meta, which holds no numbers; load the model onto a real one",
        "unreadable": "{name} cannot be read as an array ({error}); give a NumPy array",
        "ragged": "{name} has rows of different lengths; all rows need the same length",
        "masked": "{name} has masked entries; fill them with numbers",
        "type": "{name} holds {dtype}; give real numbers",
    }
)
FILLED = {"weights": 0.0, "scores": -np.inf}
"""The value of a masked entry of a NumPy masked array."""

UNKNOWN_TO_NUMPY = ("bfloat16", "float8", "float4")


def is_real(dtype: np.dtype[Any]) -> bool:
    """Return whether an array of the type holds real numbers; bfloat16 and float8, as ml_dtypes has them, are.

    >>> is_real(np.dtype("float16")), is_real(np.dtype("complex64")), is_real(np.dtype("V2"))
    (True, False, False)
    """
    if dtype.kind == "V":  # what a library has added; np.void itself is bytes without a meaning
        return not issubclass(dtype.type, np.void) and np.can_cast(dtype, np.float64)
    return dtype.kind in "biuf"


def real(name: str, value: Any) -> Array:
    """Return one array or tensor as float64, off its device and out of its graph.

    Raises ConfigError if it is not an array of real numbers.
    """
    if np.ma.is_masked(value) and name not in FILLED:
        raise ConfigError(FAULTS["masked"].format(name=name))
    if getattr(value, "is_meta", False):
        raise ConfigError(FAULTS["meta"].format(name=name))
    try:
        array = np.asarray(_detached(name, value))
    except ValueError:
        raise ConfigError(FAULTS["ragged"].format(name=name)) from None
    except (TypeError, RuntimeError) as error:  # NotImplementedError, as PyTorch raises it, is a RuntimeError
        reason = str(error).split("\n")[0]
        raise ConfigError(FAULTS["unreadable"].format(name=name, error=f"{reason:.120}")) from None
    if not is_real(array.dtype):
        raise ConfigError(FAULTS["type"].format(name=name, dtype=array.dtype))
    return np.array(array, dtype=np.float64)


def _detached(name: str, value: Any) -> Any:
    """Return a tensor that NumPy can read: dense, in a type that NumPy knows and in main memory."""
    if np.ma.is_masked(value):
        return np.asarray(value.astype(np.float64).filled(FILLED[name]))
    if not hasattr(value, "detach"):
        return value
    tensor = value.detach()
    if "sparse" in str(getattr(tensor, "layout", "")):
        tensor = tensor.to_dense()
    if any(kind in str(getattr(tensor, "dtype", "")) for kind in UNKNOWN_TO_NUMPY):
        tensor = tensor.float()
    return tensor.cpu().numpy()
