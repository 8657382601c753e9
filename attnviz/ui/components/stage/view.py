"""The share of a window that the maps of a page may have; the browser measures it and lays them out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """The share of the window.

    fit         keep within the height that the window has left, so that nothing is scrolled
    fill        fill the window from here to its foot; what follows is scrolled to. A phone has one stage at a time then
    one_by_one  a phone has one stage at a time here, too
    beside      fill it only where the stages stand side by side
    first       the stage that is shown where there is room for one at a time; otherwise the one that leads
    reserved    pixels of the window below the maps that are for something else
    least       pixels of height below which the page is scrolled rather than the maps made smaller, as it is where
                stages stand one below the other; 0: they fit in any case
    large       the headings are in large type, for a room
    one_line    and in one line
    """

    fit: bool = False
    fill: bool = False
    one_by_one: bool = False
    beside: bool = False
    first: str = ""
    reserved: int = 0
    least: int = 0
    large: bool = False
    one_line: bool = False


SCROLLED = View()
"""Maps as high as their cells need, on a page that is scrolled."""

WHOLE = View(fill=True, beside=True, least=260)
"""Maps that stand side by side whole in what the window has left, where that is enough to read them."""
