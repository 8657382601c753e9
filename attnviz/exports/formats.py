"""The kinds of files that a run can leave as.

Their writers are imported lazily, so that a kind that is not used needs no libraries of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from attnviz.engine.cost.need import MB, Need
from attnviz.engine.external.traces import is_external
from attnviz.engine.records.trace import Step, Trace
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words, translate, translated_fields

MISSING = 'a .{name} file needs {module}, which is not installed; pip install "attnviz[{extra}]" brings it'
FAULTS = Words(
    {
        "beyond": "{name} is {given}; this run has 1 to {most}",
        "step": "step is {given}; this run has {names}",
        "head": "head is {given}; the step {step} has 1 to {most}",
        "kind": "{given} does not say what kind of file it is; choose a name that ends in {known}",
        "brought": "a .{name} file computes a run from its setting, and this one begins with numbers that were given; "
        "save it as .npz",
        "written": "{name} cannot be written: {why}",
    }
)


@dataclass(frozen=True)
class ExportTarget:
    """The part of a run that is meant; None is all of it, or the first or last where one is needed.

    shown, focus, colours  the step that the screen shows, the only head, and the colours of the scores, for pictures
    """

    layer: int = 0
    step: str = "weights"
    head: int | None = None
    query: int | None = None
    key: int | None = None
    shown: str = "weights"
    focus: int | None = None
    colours: str = "apart"


@translated_fields("note")
@dataclass(frozen=True)
class Format:
    """A kind of file.

    note    what it is, in a few words
    module  where the function that writes it lives, below attnviz
    write   that module, a run and what of it is exported -> the whole file, as text or bytes
    need    what it takes to make one
    extra   what to install besides the package itself where NumPy is not enough
    """

    note: str
    module: str
    write: Callable[[Any, Trace, ExportTarget], str | bytes]
    need: Need
    extra: str = ""


def export(name: str, trace: Trace, target: ExportTarget = ExportTarget()) -> str | bytes:
    """Return a run as a file of the kind `name`, a row of FORMATS; `target` matters to the kinds that hold part of it.

    Raises ConfigError for a part that the run does not have, and where a library is missing.
    """
    form = FORMATS[name]
    _check(trace, target)
    if name in PROGRAMS and (is_external(trace) or trace.given):
        raise ConfigError(FAULTS["brought"].format(name=name))
    try:
        return form.write(import_module(f"attnviz.{form.module}"), trace, target)
    except ModuleNotFoundError as error:
        library = str(error.name).partition(".")[0]
        raise ConfigError(translate(MISSING, name=name, module=library, extra=form.extra)) from None
    except (ImportError, RuntimeError) as error:  # a sentence that says what is missing where this runs
        raise ConfigError(str(error)) from None


def save(trace: Trace, path: str | os.PathLike[str], target: ExportTarget = ExportTarget()) -> None:
    """Write a run to a file whose name ends in a row of FORMATS.

    Raises ConfigError for another name, as `export` does, and where the file cannot be written.
    """
    path_text = os.fspath(path)
    whole = export(kind_of(path_text), trace, target)
    try:
        Path(path_text).write_bytes(whole.encode("utf-8") if isinstance(whole, str) else whole)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError(FAULTS["written"].format(name=shorten(path_text, 120), why=why.lower())) from None


def save_part(trace: Trace, path: str | os.PathLike[str], part: tuple[Any, ...]) -> None:
    """Write a run as `Trace.save` does; `part` is its layer, step, head, query and key, counted from 0."""
    save(trace, path, ExportTarget(*part))


def kind_of(path: str) -> str:
    """Return the row of FORMATS that the end of a name means. Raises ConfigError for any other end.

    >>> kind_of("a.svg"), kind_of("out/A.Step.SVG")
    ('svg', 'step.svg')
    """
    ends = sorted((name for name in FORMATS if path.lower().endswith(f".{name}")), key=len)
    if not ends:
        known = ", ".join(f".{name}" for name in FORMATS)
        raise ConfigError(FAULTS["kind"].format(given=shorten(path), known=known))
    return ends[-1]


def _check(trace: Trace, target: ExportTarget) -> None:
    counts = {"layer": len(trace.layers), "head": trace.config.n_heads}
    counts |= {"query": len(trace.query_tokens), "key": len(trace.key_tokens)}
    for name, most in counts.items():
        number = getattr(target, name)
        if number is not None and number not in range(most):
            raise ConfigError(FAULTS["beyond"].format(name=name, given=ordinal(number), most=most))


def _program(write: str) -> Callable[[Any, Trace, ExportTarget], str]:
    """Return a writer of a program, by the function `write` of its module."""
    return lambda module, trace, target: getattr(module, write)(trace)


def _png(png: Any, trace: Trace, target: ExportTarget) -> bytes:
    return png.drawn(_svg(import_module("attnviz.pictures.static.svg"), trace, target))


def _svg(svg: Any, trace: Trace, target: ExportTarget) -> str:
    """Return the picture that the screen shows, of all words."""
    return str(svg.page(trace, target.layer, _view(svg, target)))


def _view(svg: Any, target: ExportTarget) -> Any:
    names = ("shown", "focus", "head", "query", "key")
    return svg.View(**{name: getattr(target, name) for name in names}, apart=target.colours == "apart")


def _gif(gif: Any, trace: Trace, target: ExportTarget) -> bytes:
    return bytes(gif.of_run(trace, target.layer, _view(import_module("attnviz.pictures.static.svg"), target)))


def _step_png(png: Any, trace: Trace, target: ExportTarget) -> bytes:
    return png.drawn(_step_svg(import_module("attnviz.pictures.static.svg"), trace, target))


def _step_svg(svg: Any, trace: Trace, target: ExportTarget) -> str:
    return str(svg.picture([_stage(trace, target)], title=trace.config.sentence))


def _stage(trace: Trace, target: ExportTarget) -> Any:
    """Return the picture of the step that is meant."""
    from attnviz.pictures import stages
    from attnviz.text import captions, step_names

    step = _step(trace, target)
    return stages.stage(trace, step, captions.NAMES[step.name], step.meaning, step_names.plain(step.symbol))


def _for_paper(write: str) -> Callable[[Any, Trace, ExportTarget], Any]:
    """Return a writer of a picture for a paper, by its function: of one step, of all its heads or of one."""

    def written(module: Any, trace: Trace, target: ExportTarget) -> Any:
        stage = _stage(trace, target)
        if target.head is not None:
            from attnviz.pictures import columns

            stage = columns.focused(stage, target.head, trace.config.n_heads)
        return getattr(module, write)(stage)

    return written


def _step(trace: Trace, target: ExportTarget) -> Step:
    steps = {**trace.around, **trace.layers[target.layer]}
    if target.step not in steps:
        raise ConfigError(FAULTS["step"].format(given=shorten(target.step), names=", ".join(steps)))
    return steps[target.step]


def _csv(tables: Any, trace: Trace, target: ExportTarget) -> str:
    """Return one step: a row a number, or one head as a matrix."""
    step = _step(trace, target)
    tokens = trace.query_tokens, trace.key_tokens
    if target.head is None:
        return tables.csv(tables.tidy(step, *tokens))
    heads = len(step.array) if step.axes[0].endswith("head") else 1
    if target.head >= heads:
        raise ConfigError(FAULTS["head"].format(given=ordinal(target.head), step=step.name, most=heads))
    return tables.csv(tables.matrix(step, *tokens, head=target.head))


def _tex(worked: Any, trace: Trace, target: ExportTarget) -> str:
    """Return the worked solution of a cell, or of a row where no key is named."""
    head, query = target.head or 0, len(trace.query_tokens) - 1 if target.query is None else target.query
    if target.key is None:
        return worked.row(trace, target.layer, head, query)
    return worked.cell(trace, target.layer, head, query, target.key)


def _archive(write: str) -> Callable[[Any, Trace, ExportTarget], str | bytes]:
    """Return a writer of all numbers, by its function."""
    return lambda module, trace, target: getattr(module, write)(trace)


_need = partial(Need, any_length=True)
_PROGRAM = _need(held=1, made=1)
_PIXELS = 210 * MB
"""The bytes of all pixels that a PNG has at most, 24 million, and of their compression."""

FORMATS = {
    "html": Format(
        "the interactive picture, in one file that needs no network",
        "exports.interactive_html",
        lambda standalone, trace, target: standalone.html(trace),
        _need(drawn=120, every_layer=True, slow_drawn=1e-6),
        extra="app",
    ),
    "svg": Format(
        "the picture of a layer, for print",
        "pictures.static.svg",
        _svg,
        _need(drawn=110, slow_drawn=10e-6),
        extra="app",
    ),
    "png": Format(
        "the same in pixels",
        "pictures.static.png",
        _png,
        _need(drawn=180, fixed=_PIXELS, busy=1, slow_drawn=15e-6),
        extra="png",
    ),
    "gif": Format(
        "the same animated, for slides: one query after another, or a head as it learns",
        "pictures.static.gif",
        _gif,
        _need(drawn=180, fixed=_PIXELS, busy=4, slow_drawn=70e-6),
        extra="gif",
    ),
    "step.svg": Format(
        "one step, for print", "pictures.static.svg", _step_svg, _need(largest=110, slow_drawn=10e-6), extra="app"
    ),
    "step.png": Format(
        "one step in pixels",
        "pictures.static.png",
        _step_png,
        _need(largest=180, fixed=_PIXELS, busy=1, slow_drawn=15e-6),
        extra="png",
    ),
    "pdf": Format(
        "one step for a paper, in centimetres and readable in grey",
        "exports.paper.pdf",
        _for_paper("pdf"),
        _need(fixed=2 * MB, largest=150, slow_drawn=20e-6),
    ),
    "tikz": Format(
        "the same for LaTeX, to be read by \\input",
        "exports.paper.tikz",
        _for_paper("tikz"),
        _need(largest=150, slow_drawn=20e-6),
    ),
    "csv": Format(
        "one step as a table, or one head of it",
        "exports.tables",
        _csv,
        _need(largest=200, slow_drawn=4e-6),
        extra="app",
    ),
    "npz": Format(
        "every step of every layer, for NumPy", "exports.archive", _archive("npz"), _need(number=10, slow_number=0.5e-6)
    ),
    "json": Format(
        "the same for everything else", "exports.archive", _archive("json_file"), _need(number=30, slow_number=1e-6)
    ),
    "py": Format(
        "a script that computes it all in NumPy", "exports.script.numpy_script", _program("numpy_script"), _PROGRAM
    ),
    "torch.py": Format(
        "the same in PyTorch",
        "exports.script.torch_script",
        _program("torch_script"),
        _PROGRAM,
    ),
    "ipynb": Format(
        "a notebook, with text between the steps",
        "exports.script.notebook",
        _program("notebook"),
        _PROGRAM,
    ),
    "xlsx": Format(
        "a workbook in which every cell is a live formula",
        "exports.workbook.book",
        lambda workbook, trace, target: workbook.workbook(trace),
        _need(fixed=160 * MB, slow_number=65e-6, slow_weight=40e-6, most_weights=300_000),
        extra="xlsx",
    ),
    "tex": Format(
        "a worked solution of one row, or of one cell, for LaTeX",
        "exports.worked_solution",
        _tex,
        _need(fixed=30 * MB, busy=0.3, slow_drawn=15e-6),
    ),
}
"""Every kind by the end of a file's name."""

PROGRAMS = ("py", "torch.py", "ipynb")
"""The kinds that compute a run anew, so that they need a setting that says it all."""
