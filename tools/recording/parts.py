"""The parts of a recording: what a run says in each of its readings, by name, as text or as an array."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from attnviz import ConfigError, Gradients, Step, Trace
from attnviz.arithmetic.backward import slope_lines
from attnviz.arithmetic.cell import derive
from attnviz.arithmetic.products import offered, products
from attnviz.arithmetic.short_derivation import four_lines, mixture
from attnviz.engine.cost.estimate import estimate
from attnviz.engine.cost.need import Need
from attnviz.engine.cost.sizes import sizes
from attnviz.exports import links, mask_code, tables
from attnviz.exports.formats import FORMATS, ExportTarget, export
from attnviz.text.cost_ledger import ledger
from tools.recording.runs import slopes

Said = Iterator[tuple[str, Any]]
"""Names, whose last part says what is compared with what, and a text or an array for each."""

FEW = ("embedded", "w_q", "values", "allowed", "scores", "weights", "output")
"""The steps of which a table and a picture are recorded."""
CELLS = 3
"""How many cells of a layer are recorded, and how many numbers of a step."""


def arrays(name: str, trace: Trace) -> Said:
    """Yield every array of every step, what it is, their order, and what is said of the run."""
    yield from _arrays(trace)
    said = {"queries": trace.query_tokens, "keys": trace.key_tokens, "notes": trace.notes, "edits": trace.edits}
    said |= {"given": sorted(trace.given), "result": trace.result.name, "token_ids": trace.token_ids}
    yield from ((f"run/{each}.txt", _text(value)) for each, value in said.items())


def gradients(name: str, trace: Trace) -> Said:
    """Yield the slope of a random result by every step."""
    yield from _arrays(slopes(name, trace))


def _arrays(trace: Trace) -> Said:
    for place, steps in (("around", trace.around), *((f"layer {at}", layer) for at, layer in enumerate(trace.layers))):
        yield f"{place}/order.txt", "\n".join(steps)
        for step in steps.values():
            yield f"{place}/{step.name}.npy", np.asarray(step.array)
            yield f"{place}/{step.name}.txt", _record(step)


def _record(step: Step) -> str:
    said = {each.name: getattr(step, each.name) for each in fields(step) if each.name != "array"}
    return _text(said | {"shape": step.shape, "type": str(step.array.dtype)})


def scripts(name: str, trace: Trace) -> Said:
    """Yield the programs: NumPy, PyTorch and the notebook, and the mask as code."""
    yield from _exported(trace, "py", "torch.py", "ipynb")
    for at, layer in enumerate(trace.layers[:1]):
        if "allowed" in layer:
            allowed = layer["allowed"].array
            term = mask_code.expression(trace.config, allowed, trace.key_tokens)
            for form in mask_code.FORMS:
                yield f"layer {at}/mask {form}.txt", str(mask_code.code(form, allowed, term))


def workbook(name: str, trace: Trace) -> Said:
    """Yield the parts of the workbook, without the time at which it was written."""
    try:
        data = export("xlsx", trace)
    except ConfigError as error:
        yield "workbook.txt", _refusal(error)
        return
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as parts:
        texts = {name: parts.read(name).decode() for name in sorted(parts.namelist())}
    shared = re.findall(r"<si>(.*?)</si>", texts.pop("xl/sharedStrings.xml", ""), re.DOTALL)
    sheets = re.findall(r'<sheet name="([^"]*)"', texts["xl/workbook.xml"])
    for part, text in texts.items():
        if number := re.fullmatch(r"xl/worksheets/sheet(\d+)\.xml", part):
            with_texts = _SHARED.sub(lambda found: f"<v>{shared[int(found[1])]}</v>", text)
            yield f"sheet {sheets[int(number[1]) - 1]}.txt", re.sub(r"(?=<c |<row |</sheetData)", "\n", with_texts)
        elif part != "docProps/core.xml":
            yield f"{part.replace('/', ' ')}.txt", text


_SHARED = re.compile(r'(?<= t="s">)<v>(\d+)</v>')
"""Where a cell refers to a text by its number: one text more would change every number after it."""


def latex(name: str, trace: Trace) -> Said:
    """Yield the worked solutions of a cell and of a row."""
    layer, head, query, key = next(_cells(f"{name} latex", trace))
    cell, row = (ExportTarget(layer=layer, head=head, query=query, key=each) for each in (key, None))
    yield from _exported(trace, "tex", target=cell, called="cell.tex")
    yield from _exported(trace, "tex", target=row, called="row.tex")


def files(name: str, trace: Trace) -> Said:
    """Yield the files of numbers: CSV of some steps, JSON, NPZ; statistics; and the link."""
    yield "link.txt", links.setting_of(trace)
    for layer in range(len(trace.layers)):
        for step in (step for step in FEW if step in trace.layers[layer] or (not layer and step in trace.around)):
            target = ExportTarget(layer=layer, step=step)
            yield from _exported(trace, "csv", target=target, called=f"layer {layer}/{step}.csv")
        for frame in (tables.row_statistics, tables.head_statistics, tables.column_sums, tables.rollout):
            found = frame(trace, layer)
            yield f"layer {layer}/{frame.__name__}.csv", "" if found is None else tables.csv(found)
    yield from _exported(trace, "json")
    with zipfile.ZipFile(io.BytesIO(bytes(export("npz", trace)))) as parts:
        yield "npz/parts.txt", "\n".join(parts.namelist())
        for part in parts.namelist():
            yield f"npz/{part}", np.load(io.BytesIO(parts.read(part)))


def pictures(name: str, trace: Trace) -> Said:
    """Yield the pictures of a layer and of some steps as SVG."""
    dice = random.Random(f"{name} pictures")  # noqa: S311 - nothing secret
    layer = dice.randrange(len(trace.layers))
    yield from _exported(trace, "svg", target=ExportTarget(layer=layer), called="weights.svg")
    step = dice.choice(FEW)
    if step in trace.around or step in trace.layers[layer]:
        yield from _exported(trace, "step.svg", target=ExportTarget(layer=layer, step=step), called=f"{step}.step.svg")


def interactive(name: str, trace: Trace) -> Said:
    """Yield the interactive file: its text, its style and its scripts apart."""
    for called, text in _exported(trace, "html"):
        whole = re.sub(r"'sha256-[^']*'", "'sha256'", text)
        for at, piece in enumerate(re.split(r"(?=<script|<style)|(?<=</script>)|(?<=</style>)", whole)):
            yield f"{called} {at}.txt", piece


def cells(name: str, trace: Trace) -> Said:
    """Yield the lines of arithmetic of some cells, their slopes, and the products of some numbers of every step."""
    back = _slopes(name, trace)
    for layer, head, query, key in _cells(f"{name} cells", trace):
        where = f"layer {layer}/{head}, {query}, {key}"
        found = derive(trace, layer, head, query, key)
        names = [line.name for line in found.lines]
        yield f"{where}/lines.txt", "\n".join(names)
        for at, line in enumerate(found.lines):
            again = names[:at].count(line.name)
            yield f"{where}/{line.name}{again or ''}.txt", _text(line)
        short = four_lines(trace, found)
        rest = {each.name: getattr(short, each.name) for each in fields(short) if each.name not in ("cell", "lines")}
        yield f"{where}/four lines.txt", _text(rest | {"mixture": mixture(trace, found)})
        if back:
            for slope in slope_lines(trace, back, layer, head, query, key):
                yield f"{where}/slope {slope.name}.txt", _text(slope)
    yield from _products(name, trace)


def _products(name: str, trace: Trace) -> Said:
    for layer, steps in enumerate(trace.layers):
        names = offered(trace, layer)
        yield f"layer {layer}/sums.txt", "\n".join(names)
        for step in names:
            dice = random.Random(f"{name} {layer} {step}")  # noqa: S311 - nothing secret
            for _ in range(CELLS):
                head = dice.randrange(len(steps[step].array)) if steps[step].array.ndim == 3 else 0
                row, column = (dice.randrange(n) for n in steps[step].head(head).shape)
                where = f"layer {layer}/{head}, {row}, {column}"
                yield f"{where}/products of {step}.txt", _text(products(trace, layer, step, row, column, head))


def costs(name: str, trace: Trace) -> Said:
    """Yield the ledger of every layer, and the estimates of time and memory."""
    for layer in range(len(trace.layers)):
        found = ledger(trace, layer)
        yield f"layer {layer}/order.txt", "\n".join(row.name for row in found.rows)
        yield from ((f"layer {layer}/{row.name}.txt", _text(row)) for row in found.rows)
        yield f"layer {layer}/ledger.csv", tables.csv(tables.of_ledger(found))
        yield f"layer {layer}/axes.csv", tables.csv(tables.axes(found))
    yield "sizes.txt", _text(sizes(trace))
    needs = {"run": Need(), **{kind: form.need for kind, form in FORMATS.items()}}
    yield from ((f"estimate {kind}.txt", _text(estimate(need, trace))) for kind, need in needs.items())


PARTS: Mapping[str, Callable[[str, Trace], Said]] = {
    "arrays": arrays,
    "gradients": gradients,
    "cells": cells,
    "costs": costs,
    "scripts": scripts,
    "workbook": workbook,
    "latex": latex,
    "files": files,
    "pictures": pictures,
    "interactive": interactive,
}
"""Every part by its name, in the order in which they are compared."""


def _cells(name: str, trace: Trace) -> Iterator[tuple[int, int, int, int]]:
    """Yield some cells of every layer: layer, head, query and key, counted from 0."""
    dice = random.Random(name)  # noqa: S311 - nothing secret
    heads, n_query, n_key = trace.layers[-1]["weights"].shape
    for layer in range(len(trace.layers)):
        for _ in range(CELLS):
            yield layer, dice.randrange(heads), dice.randrange(n_query), dice.randrange(n_key)


def _exported(trace: Trace, *kinds: str, target: ExportTarget | None = None, called: str = "") -> Said:
    for kind in kinds:
        try:
            written = export(kind, trace, target or ExportTarget())
        except ConfigError as error:
            written = _refusal(error)
        yield called or f"file.{kind}", written if isinstance(written, str) else written.decode()


def _slopes(name: str, trace: Trace) -> Gradients | None:
    """Return the slopes of a run, where there are any: those of a trained model may be refused."""
    try:
        return slopes(name, trace)
    except ConfigError:
        return None


def _refusal(error: Exception) -> str:
    return f"refused: {type(error).__name__}: {error}"


def _text(value: Any) -> str:
    """Return a value as JSON, a line an entry; numbers have all of their digits."""
    return json.dumps(_plain(value), indent=1, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return json.dumps(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)
