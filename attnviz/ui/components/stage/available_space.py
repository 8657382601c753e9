"""The room that a browser reports for the pictures of a page, and where the stages stand in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from attnviz.pictures import figures, headings
from attnviz.pictures.layout.placement import NARROWEST_PAGE, Placement
from attnviz.pictures.stage_record import Stage
from attnviz.ui.components.answer import drawer
from attnviz.ui.components.pickers import film_strip, overview
from attnviz.ui.session.browser import component

Default = TypeVar("Default")

DEFAULT_WIDTH = 960  # beside an open sidebar on a window of 1280
WIDTHS = (240, 3840)
DEFAULT_HEIGHT = 560  # below the sentence on a window of 720
HEIGHTS = (160, 2160)
SCROLLED_HEIGHT = 560  # pixels for the pictures of a page that is scrolled
COOKIE = "attnviz_window_{key}"
_REMEMBERED = re.compile(r"(\d{1,4})x(\d{1,4})x([01])", re.ASCII)


@dataclass(frozen=True)
class View:
    """The share of the window that the pictures may have.

    width       pixels to lay out for until the browser has reported how many there are
    fit         keep within the height that the window has left, so that nothing is scrolled
    fill        fill the window from here to its foot; what follows is scrolled to. A phone has one stage at a time then
    first       the stage that is shown where there is room for one at a time; otherwise the one that leads
    reserved    pixels of the window below the pictures that are for something else
    least       pixels of height below which the page is scrolled rather than the pictures made smaller, as it is where
                stages stand one below the other; 0: they fit in any case
    has_answer  there is an answer; in a narrow window it comes from the foot and takes its room of theirs, in a wide
                one it stands in the room of the setting
    has_overview  so does an overview of a text that is too long to be shown whole, or over them
    large       the headings of the pictures are in large type, for a room
    """

    width: int = DEFAULT_WIDTH
    fit: bool = False
    fill: bool = False
    first: str = ""
    reserved: int = 0
    least: int = 0
    has_answer: bool = False
    has_overview: bool = False
    large: bool = False


SCROLLED = View()
"""Pictures as high as their cells need, on a page that is scrolled."""


@dataclass(frozen=True)
class Room:
    """Pixels for the pictures, less what an answer at the foot of a narrow window takes of them.

    height    None on a page that is scrolled
    is_wide   whether the window is so wide that an answer takes no room of the pictures
    has_film  whether the pictures are those of one head, with a film strip of all heads beside or below them
    """

    view: View
    width: int
    height: int | None
    is_wide: bool
    has_film: bool

    @property
    def is_narrow(self) -> bool:
        """True if the stages cannot stand side by side."""
        return self.width < NARROWEST_PAGE

    def visible(self, stages: Sequence[Stage]) -> list[Stage]:
        """Return the stages that there is room for: one alone in a narrow window that they fill."""
        return [in_front(stages, self.view.first)] if self.view.fill and self.is_narrow else list(stages)

    @property
    def overview_width(self) -> int:
        """Pixels of the overview beside the pictures; 0 if there is none there."""
        room = self.width - (film_strip.WIDTH if self.has_film else 0)
        return overview.WIDTH if self.view.has_overview and room - overview.WIDTH >= NARROWEST_PAGE else 0

    @property
    def overview_height(self) -> int:
        """Pixels of the overview over the pictures, where these need the whole width; 0 if there is none there."""
        return overview.HEIGHT if self.view.has_overview and not self.overview_width else 0

    @property
    def film_width(self) -> int:
        """Pixels of the film strip beside the pictures; 0 if there is none there."""
        room = self.width - self.overview_width - film_strip.WIDTH
        return film_strip.WIDTH if self.has_film and room >= NARROWEST_PAGE else 0

    @property
    def film_height(self) -> int:
        """Pixels of the film strip below the pictures, where these need the whole width; 0 if there is none there.

        An answer that comes up from the foot of the window stands in its place: the picture needs what is left.
        """
        is_covered = self.view.has_answer and not self.is_wide
        return film_strip.HEIGHT if self.has_film and not self.film_width and not is_covered else 0

    @property
    def picture_height(self) -> int:
        """Pixels for the pictures between their headings and the film strip."""
        return (self.height or SCROLLED_HEIGHT) - self.heading_height - self.film_height - self.overview_height

    @property
    def heading_height(self) -> int:
        """Pixels of the heading over each picture."""
        return headings.HEIGHT_FOR_A_ROOM if self.view.large else headings.HEIGHT

    def placement(self, stages: Sequence[Stage]) -> Placement:
        """Place the visible stages."""
        is_alone = self.has_film or (self.view.fill and self.is_narrow)
        width = self.width - self.film_width - self.overview_width
        return figures.placed(stages, width, self.picture_height, focused=is_alone)


def in_front(stages: Sequence[Stage], first: str) -> Stage:
    """Return the stage of a name, or else the one that leads."""
    named = (stage for stage in stages if stage.name == first)
    leading = (stage for stage in stages if stage.leads)
    return next(named, next(leading, stages[0]))


def reported(key: str) -> Mapping[str, Any]:
    """Return the browser's report on the pictures of a key: it may say anything.

    Before it has said anything, that is what it said when the page was opened before.
    """
    return {**remembered(component.cookie(COOKIE.format(key=key))), **component.report(f"{key}-bridge")}


def remembered(note: str) -> dict[str, Any]:
    """Return the report that a browser has kept of a window, so that the page need not be drawn twice there.

    >>> remembered("1600x920x1"), remembered("wide")
    ({'width': 1600, 'room': 920, 'wide': True}, {})
    """
    match = _REMEMBERED.fullmatch(note)
    return {"width": int(match[1]), "room": int(match[2]), "wide": match[3] == "1"} if match else {}


def assumed(key: str, view: View) -> tuple[int, int]:
    """Return the width and the height that are laid out for until the browser reports others."""
    kept = remembered(component.cookie(COOKIE.format(key=key)))
    return within(kept.get("width"), WIDTHS, view.width), within(kept.get("room"), HEIGHTS, DEFAULT_HEIGHT)


def room_for(key: str, view: View, *, has_film: bool = False) -> Room:
    """Return the room for the pictures of a key, from what the browser has reported so far."""
    values = reported(key)
    is_wide = values.get("wide") is not False
    width = within(values.get("width"), WIDTHS, view.width)
    height = None
    if view.fit or view.fill:
        height = within(values.get("room"), HEIGHTS, DEFAULT_HEIGHT if view.fill else None)
    if height is not None and view.least and (height - view.reserved < view.least or width < NARROWEST_PAGE):
        height = None
    if height is not None:
        height = max(height - view.reserved, HEIGHTS[0])
    if view.has_answer and not is_wide and height is not None and height - drawer.HEIGHT >= HEIGHTS[0]:
        height -= drawer.HEIGHT
    return Room(view, width, height, is_wide, has_film)


def is_narrow(key: str) -> bool:
    """Return whether the pictures of a key have room for one stage at a time, as far as the browser has reported."""
    return room_for(key, SCROLLED).is_narrow


def within(pixels: Any, limits: tuple[int, int], default: Default) -> int | Default:
    """Return a reported number of pixels, no less and no more than the limits; the default if it is not a number."""
    if isinstance(pixels, bool) or not isinstance(pixels, int):
        return default
    return min(max(pixels, limits[0]), limits[1])
