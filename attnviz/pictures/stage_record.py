"""One step of attention as it is to be drawn: its numbers, its words, its sizes and its colour scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attnviz.arrays import Array
from attnviz.pictures.colours import ABOVE, BELOW, QUIET, SHARE, SIGNED
from attnviz.pictures.layout.mosaic import Shape, room_for
from attnviz.settings.counting import ordinals
from attnviz.settings.language import translate

LARGER = 14  # tenths of the usual room for words, where type is large
FORBIDDEN = "may not attend"
ALLOWED = "may attend"
MASKED_WORD = "masked"
NEXT_TO_NOTHING = 1e-12
"""A head's own colours reach at least to this part of the largest number of all heads, or of 1: what rounding leaves of
a sum that is 0 is as pale as nothing."""


@dataclass(frozen=True)
class Stage:
    """One step of attention, ready to be drawn.

    name      stable, in links and keys
    title     a few characters: QKᵀ, weights
    array     (heads, rows, columns); heads narrower than the widest are padded, see `widths`
    kind      "signed", "share" or "allowed"
    rows      the word of every row;  columns  the word of every column, or None for 1, 2, 3 ...
    axes      what a row and what a column is called; rows of one name light up together in all stages
    masked    True where nothing is drawn: the query may not see the key
    grey      what the legend calls such cells, where they are not only masked ones
    widths    true columns of every head; None = all of them
    heads     a name for every head; None = head 1, head 2 ...
    alt       the picture in a sentence, for those who cannot see it
    large     words and numbers in large type, for a room
    reach     the largest size that the colours must tell apart, where stages are to be compared; None = its own
    edited    head, row and column of the cells that were changed by hand; they are framed
    wanted    head, row and column of the cells that should be large; they are outlined
    margin    rows at the bottom and columns at the right that are sums, and do not belong to the shape
    symbol    the letter of the field for it: S, A, Z
    leads     whether its cells are to be the widest where several stages share a box
    sums      whether each head has bars: what each column adds to, and over how many keys each row spreads
    roles     what each head does, in a few words
    tested    what each head was measured to do on other sentences, in a line; empty for a head that does none of it
    apart     whether the colours of each head reach from its own smallest to its own largest number
    shorter   the phrase in fewer words, for headings with less and less room
    bars      what each column adds to and over what part of the keys each row spreads, where that is not read off the
              array: (heads, columns) and (heads, rows)
    quiet     whether the colours of signed numbers are paler, as in all maps that stand beside weights or lead to them:
              a step has the same colours wherever it is shown there
    positions the positions of its rows and of its columns among all, where it is a part; None for all of them
    common    the positions of its rows and of its columns among those of all stages beside it, where these have others
    chosen    head, row and column of the cell that is framed, or of a row where the column is None
    """

    name: str
    title: str
    array: Array
    kind: str
    rows: Sequence[str]
    columns: Sequence[str] | None = None
    axes: tuple[str, str] = ("query", "key")
    masked: Array | None = None
    widths: Sequence[int] | None = None
    heads: Sequence[str] | None = None
    phrase: str = ""
    formula: str = ""
    alt: str = ""
    large: bool = False
    reach: float | None = None
    edited: Sequence[tuple[int, int, int]] = ()
    wanted: Sequence[tuple[int, int, int]] = ()
    margin: int = 0
    grey: str = ""
    symbol: str = ""
    leads: bool = False
    sums: bool = False
    roles: Sequence[str] | None = None
    tested: Sequence[str] | None = None
    apart: bool = False
    shorter: Sequence[str] = ()
    bars: tuple[Array, Array] | None = None
    quiet: bool = False
    positions: tuple[Sequence[int] | None, Sequence[int] | None] = (None, None)
    common: tuple[Sequence[int] | None, Sequence[int] | None] = (None, None)
    chosen: tuple[int, int, int | None] | None = None

    @property
    def true_widths(self) -> tuple[int, ...]:
        return tuple(self.widths or (self.array.shape[2],) * self.array.shape[0])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.heads or (translate("head {n}", n=n) for n in ordinals(self.array.shape[0])))

    @property
    def hidden(self) -> Array | None:
        """True where nothing is drawn; in a stage that tells what is allowed, that is wherever it is not."""
        return self.array == 0 if self.kind == "allowed" else self.masked

    @cached_property
    def drawn_cells(self) -> Array:
        """True where a head has a number to show: inside its true width and not masked."""
        heads, _, columns = self.array.shape
        if self.hidden is None and min(self.true_widths) >= columns:
            return np.ones(self.array.shape, bool)
        inside = np.arange(columns) < np.array(self.true_widths).reshape(heads, 1, 1)
        return np.broadcast_to(inside if self.hidden is None else inside & ~self.hidden, self.array.shape)

    @cached_property
    def scale(self) -> Scale:
        """The colour scale: symmetric about 0 for signed numbers, 0 to 1 for shares."""
        if self.kind == "allowed":
            return Scale(0.0, 1.0, (SHARE[2], SHARE[2]))
        drawn = self.array[self.drawn_cells & np.isfinite(self.array)]
        low, high = (float(drawn.min()), float(drawn.max())) if drawn.size else (0.0, 0.0)
        if self.reach is not None:
            low, high = (-self.reach if low < 0 else 0.0), self.reach
        if self.kind == "signed" or low < 0:
            end = max(-low, high) or 1.0
            return Scale(-end, end, QUIET if self.quiet else SIGNED)
        return Scale(0.0, max(1.0, high), SHARE)

    def scale_of(self, head: int) -> Scale:
        """Return the colour scale of one head: its own, where the heads have theirs apart."""
        if not self.apart:
            return self.scale
        masked = None if self.masked is None else self.masked[head : head + 1]
        widths = self.true_widths[head : head + 1]
        alone = replace(self, array=self.array[head : head + 1], masked=masked, widths=widths, apart=False)
        return alone.scale if alone.scale.high >= self.least_end else replace(alone, reach=self.least_end).scale

    @property
    def least_end(self) -> float:
        """The least that a colour scale of one head reaches to, unless all its numbers are 0."""
        return NEXT_TO_NOTHING * max(1.0, self.scale.high)

    @property
    def legend(self) -> Scale:
        """The part of the colour scale that has numbers in it: half of it if none is on the other side of 0."""
        shades, drawn = self.scale, self.array[self.drawn_cells & np.isfinite(self.array)]
        if shades.low >= 0 or not drawn.any():
            return shades
        if drawn.min() >= 0:
            return Scale(0.0, shades.high, shades.colours[ABOVE])
        return Scale(shades.low, 0.0, shades.colours[BELOW]) if drawn.max() <= 0 else shades

    @property
    def shape(self) -> Shape:
        """The size of this stage for the arrangement of exported pictures."""
        left = room_for(self.rows, least=24, most=76)
        bottom = 22 if self.columns is None else room_for(self.columns, least=24, most=60)
        if self.large:
            left, bottom = LARGER * left // 10, LARGER * bottom // 10
        return Shape(self.true_widths, self.array.shape[1], left, bottom, self.columns is not None)


@dataclass(frozen=True)
class Scale:
    """The numbers at the two ends of a colour scale, and its colours at equal steps between them."""

    low: float
    high: float
    colours: tuple[str, ...]
