"""The kinds of files that a run can leave as.

What writes them is loaded when a file is asked for, so that nobody needs the libraries of a kind that he does not use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from attnviz.core.fields import ConfigError, shorten
from attnviz.core.language import Words, said, say
from attnviz.core.trace import Step, Trace

MISSING = 'a .{name} file needs {module}, which is not installed; pip install "attnviz[{extra}]" brings it'
FAULTS = Words(
    {
        "place": "--{name} is {given}; this run has 1 to {most}",
        "step": "--step is {given}; this run has {names}",
        "head": "--head is {given}; the step {step} has 1 to {most}",
    }
)


@dataclass(frozen=True)
class Place:
    """The part of a run that is meant, counted from 1; None is all of it, or the first or last where one is needed."""

    layer: int = 1
    step: str = "weights"
    head: int | None = None
    query: int | None = None
    key: int | None = None


@said("note")
@dataclass(frozen=True)
class Format:
    """A kind of file.

    note    what it is, in a few words
    module  where the function that writes it lives, below attnviz.views
    write   that module, a run and a place in it -> the whole file, as text or bytes
    extra   what to install besides the package itself where NumPy is not enough
    """

    note: str
    module: str
    write: Callable[[Any, Trace, Place], str | bytes]
    extra: str = ""


def written(name: str, trace: Trace, place: Place = Place()) -> str | bytes:
    """A run as a file of the kind `name`, a row of FORMATS; `place` matters to the kinds that hold a part of it.

    Raises ConfigError for a place that the run does not have, and where a library is missing.
    """
    form = FORMATS[name]
    _check(trace, place)
    try:
        return form.write(import_module(f"attnviz.views.{form.module}"), trace, place)
    except ModuleNotFoundError as error:
        library = str(error.name).partition(".")[0]
        raise ConfigError(say(MISSING, name=name, module=library, extra=form.extra)) from None
    except (ImportError, RuntimeError) as error:  # a sentence that says what is missing where this runs
        raise ConfigError(str(error)) from None


def _check(trace: Trace, place: Place) -> None:
    there = {"layer": len(trace.layers), "head": trace.config.n_heads}
    there |= {"query": len(trace.query_tokens), "key": len(trace.key_tokens)}
    for name, most in there.items():
        given = getattr(place, name)
        if given is not None and given > most:
            raise ConfigError(FAULTS["place"].format(name=name, given=given, most=most))


def _png(png: Any, trace: Trace, place: Place) -> bytes:
    return png.drawn(import_module("attnviz.views.svg").page(trace, place.layer - 1))


def _step_png(png: Any, trace: Trace, place: Place) -> bytes:
    return png.drawn(_step_svg(import_module("attnviz.views.svg"), trace, place))


def _step_svg(svg: Any, trace: Trace, place: Place) -> str:
    from attnviz.views import captions, flow, stages

    step = _step(trace, place)
    drawn = stages.stage(trace, step, captions.NAMES[step.name], step.meaning, flow.plain(step.symbol))
    return str(svg.picture([drawn], title=trace.config.sentence))


def _step(trace: Trace, place: Place) -> Step:
    """The step that is meant. Raises ConfigError if the run has none of that name."""
    steps = {**trace.around, **trace.layers[place.layer - 1]}
    if place.step not in steps:
        raise ConfigError(FAULTS["step"].format(given=shorten(place.step), names=", ".join(steps)))
    return steps[place.step]


def _csv(tables: Any, trace: Trace, place: Place) -> str:
    """One step: a row a number, or one head as a matrix."""
    step = _step(trace, place)
    tokens = trace.query_tokens, trace.key_tokens
    if place.head is None:
        return tables.csv(tables.tidy(step, *tokens))
    heads = len(step.array) if step.axes[0].endswith("head") else 1
    if place.head > heads:
        raise ConfigError(FAULTS["head"].format(given=place.head, step=step.name, most=heads))
    return tables.csv(tables.matrix(step, *tokens, head=place.head - 1))


def _tex(worked: Any, trace: Trace, place: Place) -> str:
    """The worked solution of a cell, or of a row where no key is named."""
    head, query = (place.head or 1) - 1, (place.query or len(trace.query_tokens)) - 1
    if place.key is None:
        return worked.row(trace, place.layer - 1, head, query)
    return worked.cell(trace, place.layer - 1, head, query, place.key - 1)


FORMATS = {
    "html": Format(
        "the picture to point into, in one file that needs no network",
        "standalone",
        lambda standalone, trace, place: standalone.html(trace),
        extra="app",
    ),
    "svg": Format(
        "the picture of a layer, for print",
        "svg",
        lambda svg, trace, place: svg.page(trace, place.layer - 1),
        extra="app",
    ),
    "png": Format("the same in pixels", "png", _png, extra="png"),
    "step.svg": Format("one step, for print", "svg", _step_svg, extra="app"),
    "step.png": Format("one step in pixels", "png", _step_png, extra="png"),
    "csv": Format("one step as a table, or one head of it", "tables", _csv, extra="app"),
    "npz": Format(
        "every step of every layer, for NumPy",
        "archive",
        lambda archive, trace, place: archive.npz(trace),
    ),
    "json": Format(
        "the same for everything else",
        "archive",
        lambda archive, trace, place: archive.to_json(trace),
    ),
    "py": Format(
        "a script that computes it all in NumPy",
        "numpy_script",
        lambda script, trace, place: script.numpy_script(trace.config),
    ),
    "torch.py": Format(
        "the same in PyTorch",
        "torch_script",
        lambda script, trace, place: script.torch_script(trace.config),
    ),
    "ipynb": Format(
        "a notebook, with text between the steps",
        "notebook",
        lambda notebook, trace, place: notebook.notebook(trace.config),
    ),
    "xlsx": Format(
        "a workbook in which every cell is a live formula",
        "workbook",
        lambda workbook, trace, place: workbook.workbook(trace),
        extra="xlsx",
    ),
    "tex": Format("a worked solution of one row, or of one cell, for LaTeX", "worked", _tex),
}
"""Every kind by the end of a file's name."""
