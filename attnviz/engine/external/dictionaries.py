"""Dictionaries of arrays, an entry a layer: the cache of TransformerLens, and any other whose keys count the layers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from attnviz.settings.faults import ConfigError, shorten_name
from attnviz.settings.language import Words

HOOKS = {"weights": "hook_pattern", "scores": "hook_attn_scores"}
"""The ends of the names under which TransformerLens keeps them, as in blocks.0.attn.hook_pattern."""

FAULTS = Words(
    {
        "keys": "{name} is a dictionary with {keys}, from which the layers cannot be told; give their arrays in a "
        "list, such as [cache[key] for key in keys]",
        "hook": "{name} is a cache without {hook}, which run_with_cache keeps unless its names_filter leaves it out",
        "empty": "{name} is an empty dictionary; give the array of one layer or more",
    }
)
NUMBER = re.compile(r"\d+")


def is_dictionary(value: Any) -> bool:
    """Return whether arrays are looked up in this by names; in a data frame, which has them too, numbers are."""
    return all(hasattr(value, name) for name in ("keys", "__getitem__")) and not hasattr(value, "shape")


def layers_of(name: str, value: Any) -> list[Any]:
    """Return the arrays of a dictionary by layer. Raises ConfigError where its keys do not count them."""
    keys = list(value.keys())
    if not keys:
        raise ConfigError(FAULTS["empty"].format(name=name))
    hook = HOOKS.get(name, "")
    if hook and any(".hook_" in str(key) for key in keys):
        keys = [key for key in keys if str(key).endswith(f".{hook}")]
        if not keys:
            raise ConfigError(FAULTS["hook"].format(name=name, hook=hook))
    numbers = [NUMBER.findall(str(key)) for key in keys]
    counted = {int(found[0]): key for found, key in zip(numbers, keys) if len(found) == 1}
    if len(counted) < len(keys) or len({NUMBER.sub("", str(key)) for key in keys}) > 1:
        raise ConfigError(FAULTS["keys"].format(name=name, keys=_listed(keys)))
    return [value[counted[number]] for number in sorted(counted)]


def _listed(keys: Sequence[Any]) -> str:
    return ", ".join(shorten_name(str(key)) for key in keys[:3]) + ", …" * (len(keys) > 3)
