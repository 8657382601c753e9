"""A mask or a bias as a row: a function of pairs of positions, and its reading in a script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attnviz.settings.rows import Choice


@dataclass(frozen=True)
class PairRow(Choice):
    """A `Choice` of a mask or a bias.

    script         what a script says where it is not the line itself: the lines before, and last the code; {np} is the
                   library
    script_before  returns the lines of a script that come before these and depend on the setting. It is given an object
                   with `config`, the setting; `words`, those of the library; `kv`, the ending of the names of the keys'
                   tokens; `n_query` and `n_key`, the tokens; and `listed`, which writes items in brackets
    """

    script: tuple[str, ...] = ()
    script_before: Callable[[Any], list[str]] | None = None
