"""A whole run as a file, exact to the last bit, and back: NPZ for NumPy, JSON for everything else.

Both hold every step of every layer as `layer0.weights`, those around the layers as `embedded`, and beside them, as
`about`, the setting, the tokens and what each axis is. A file that was made elsewhere is held to what a run can be: it
names steps of ours, sizes agree, and its formulas use the commands of ours alone.
"""

from __future__ import annotations

import io
import json
import math
import operator
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.codegen.latex import COMMANDS
from attnviz.engine.external.traces import ExternalConfig, is_external
from attnviz.engine.numerics import cancellation
from attnviz.engine.plan.tracing import axes_of_mask
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig, is_pretrained
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import checked
from attnviz.engine.records.step_specs import AXES, STEPS
from attnviz.engine.records.trace import Step, Steps, Trace
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.scores import SCORES
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.fields import default, settings
from attnviz.settings.language import Words, translate
from attnviz.settings.url_codec import migrated
from attnviz.text.step_names import PARAMETERS
from attnviz.uploads import npy, parse_text

ABOUT, FORMAT, VERSION = "about", "attnviz", 1
EARLIEST = (1980, 1, 1, 0, 0, 0)  # what a zip archive calls no time at all, so that equal runs are equal files
BUDGET = npy.Budget(n_bytes=512_000_000, n_arrays=8192)
LONGEST_FORMULA = 4_000
JSON_START, NPZ_START = b'{"about":{"format":"attnviz"', b"about.npy"
ODD = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
"""Numbers that JSON has no form for, as texts."""

FAULTS = Words(
    {
        "format": "this is not a saved run; open a file that was saved here",
        "version": "the run was saved as version {version}, which is not known here; up to {newest} is read",
        "about": "the description of the run cannot be read ({why}); save it again",
        "step": "the run holds {name}, which is not a step of one; save it again",
        "missing": "the run does not hold {name}, which it describes; save it again",
        "formula": "the formula of {name} cannot be read; save the run again",
        "sizes": "the steps of the run do not fit together ({why}); save it again",
    }
)


def npz(trace: Trace) -> bytes:
    """Return the run as an .npz file: equal runs give equal bytes, and `numpy.load` opens it."""
    out = io.BytesIO()
    about = np.array(json.dumps(_about(trace), separators=(",", ":")))
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in {ABOUT: about, **{name: step.array for name, step in _named(trace)}}.items():
            cancellation.check()
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", EARLIEST), _npy(array), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _npy(array: Array) -> bytes:
    """Return an array as an .npy file, row by row and with the least significant byte first."""
    form = array.dtype.newbyteorder("<")
    header = f"{{'descr': '{form.str}', 'fortran_order': False, 'shape': {array.shape}, }}"
    padding = -(len(npy.MAGIC) + 4 + len(header) + 1) % 64
    line = f"{header}{' ' * padding}\n".encode("latin-1")
    return npy.MAGIC + b"\x01\x00" + len(line).to_bytes(2, "little") + line + array.astype(form).tobytes()


def to_json(trace: Trace) -> str:
    """Return the run as JSON: as `npz` has it, with each array as nested lists, and -inf, inf and nan as texts."""
    return "".join(_json(trace))


def json_file(trace: Trace) -> bytes:
    """Return `to_json` as the bytes of a file, put together row by row: as text it would be in memory several times."""
    out = io.BytesIO()
    out.writelines(part.encode("ascii") for part in _json(trace))
    return out.getvalue()


def _json(trace: Trace) -> Iterator[str]:
    """Yield the JSON of a run, at most a row of numbers at a time."""
    yield f'{{"{ABOUT}":{_dumped(_about(trace))}'
    for name, step in _named(trace):
        yield f',"{name}":'
        yield from _rows(step.array)
    yield "}"


def _rows(array: Array) -> Iterator[str]:
    if array.ndim < 2:
        yield _dumped(_lists(array))
        return
    yield "["
    for at, part in enumerate(array):
        cancellation.check()
        yield "," if at else ""
        yield from _rows(part)
    yield "]"


def _dumped(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _lists(array: Array) -> Any:
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return array.tolist()
    texts = np.where(np.isnan(array), "nan", np.where(array > 0, "inf", "-inf")).astype(object)
    return np.where(np.isfinite(array), array.astype(object), texts).tolist()


def _named(trace: Trace) -> Iterator[tuple[str, Step]]:
    """Yield every step with the name that it has in a file; the weights of a trained model stay in its folder."""
    left_out = PARAMETERS if is_pretrained(trace) else ()
    yield from ((name, step) for name, step in trace.around.items() if name not in left_out)
    for at, layer in enumerate(trace.layers):
        yield from ((f"layer{at}.{name}", step) for name, step in layer.items() if name not in left_out)


def _about(trace: Trace) -> dict[str, Any]:
    """Return all of a run but its numbers."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "brought": is_external(trace),
        **({"pretrained": True} if is_pretrained(trace) else {}),
        "setting": {
            item.name: str(item.metadata["kind"].write(getattr(trace.config, item.name)))
            for item in settings(trace.config)
        },
        "query_tokens": trace.query_tokens,
        "key_tokens": trace.key_tokens,
        "notes": trace.notes,
        "edits": [(at, step, index, repr(value)) for at, step, index, value in trace.edits],
        "given": sorted(trace.given),
        **({"given_in": [sorted(names) for names in trace.given_in]} if trace.given_in else {}),
        "steps": {
            name: {"axes": step.axes, "formula": step.formula, "widths": dict(step.true_widths)}
            for name, step in _named(trace)
        },
    }


def is_archive(data: bytes) -> bool:
    """Return whether a file begins as one of `npz` or `to_json` does."""
    return data.startswith(JSON_START) or (data.startswith(npy.ZIP) and data[30:].startswith(NPZ_START))


def read(data: bytes, budget: npy.Budget = BUDGET) -> Trace:
    """Return the run that a file of `npz` or `to_json` holds, exact to the last bit.

    Raises ConfigError for anything else, in one sentence.
    """
    if data.startswith(npy.ZIP):
        arrays = npy.npz(data, budget)
        return _trace(_parsed(str(arrays.pop(ABOUT, ""))), arrays)
    whole = _parsed(_decoded(data))
    about = whole.pop(ABOUT, None)
    return _trace(about, {name: _array(name, value) for name, value in whole.items()})


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _fault("format") from None


def _parsed(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise _fault("format") from None
    if not isinstance(content, dict):
        raise _fault("format")
    return content


def _array(name: str, value: Any) -> Array:
    """Return nested lists as an array; what stands as text is a number that JSON has no form for."""
    if not isinstance(value, list):
        raise _fault("step", name=shorten(name))
    return parse_text.listed(value, ODD)


def _trace(about: Any, arrays: Mapping[str, Array]) -> Trace:
    """Return the run that a description and its arrays make."""
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise _fault("format")
    if about.get("version") != VERSION:
        raise _fault("version", version=shorten(str(about.get("version"))), newest=VERSION)
    try:
        kind = ExternalConfig if about["brought"] is True else Config
        config = _setting(PretrainedConfig if about.get("pretrained") is True else kind, about["setting"])
        tokens = _texts(about["query_tokens"]), _texts(about["key_tokens"])
        around, layers = _steps(about["steps"], arrays, config, tokens)
        result = list(layers[-1].values())[-1]
        edits, given_steps = tuple(map(checked, about["edits"])), frozenset(_texts(about["given"]))
        given_in = tuple(frozenset(_texts(names)) for names in _listed(about.get("given_in", []), len(layers)))
        return Trace(config, *tokens, around, layers, result, _texts(about["notes"]), edits, given_steps, given_in)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise _fault("about", why=type(error).__name__) from None


def _setting(kind: type[Config], written: Mapping[str, Any]) -> Config:
    """Return the setting, of what this version knows of it."""
    values, query = {}, migrated(written)
    for item in settings(kind):
        try:
            values[item.name] = item.metadata["kind"].read(str(query[item.name]))[0]
        except (KeyError, ValueError):
            values[item.name] = default(item)
    return kind(**values)


def _listed(value: Any, layers: int) -> list[Any]:
    """Return a list that has nothing, as in older files, or one entry a layer. Raises TypeError for anything else."""
    if isinstance(value, list) and len(value) in (0, layers):
        return value
    raise TypeError(value)


def _texts(value: Any) -> tuple[str, ...]:
    """Return a list of texts; lone surrogates become U+FFFD, as nothing could show them."""
    if not isinstance(value, list):
        raise TypeError(value)
    return tuple(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") for text in value)


def _steps(
    described: Mapping[str, Any], arrays: Mapping[str, Array], config: Config, tokens: tuple[tuple[str, ...], ...]
) -> tuple[Steps, tuple[Steps, ...]]:
    """Return the steps around the layers and those of each layer."""
    sizes = {"query": len(tokens[0]), "key": len(tokens[1]), "head": config.n_heads, "kv_head": config.kv_heads}
    sizes |= {"d_k": max(config.key_widths()), "d_v": max(config.value_widths())}
    words = tokens[0], tokens[1]
    around = Steps("the steps around the layers", sizes, words=words)
    layers = tuple(Steps(f"layer {at}", sizes, words=words) for at in range(config.n_layers))
    for name, entry in described.items():
        parts = re.fullmatch(r"(?:layer(\d{1,3})\.)?(\w+)", name, re.ASCII)
        if not parts or parts[2] not in STEPS or int(parts[1] or 0) >= len(layers):
            raise _fault("step", name=shorten(name))
        if name not in arrays:
            raise _fault("missing", name=name)
        _record(around if parts[1] is None else layers[int(parts[1])], parts[2], arrays[name], entry)
    _check_whole(config, around, layers)
    return around, layers


def _record(steps: Steps, name: str, array: Array, entry: Mapping[str, Any]) -> None:
    """Record one step, held to what it can be."""
    axes, formula = tuple(entry["axes"]), entry["formula"]
    is_own = axes == axes_of_mask(by_head=True) if name == "allowed" else name.startswith("score_")
    if axes != STEPS[name].axes and not (is_own and axes[0] == "head" and set(axes) <= set(AXES)):
        raise _fault("step", name=shorten(translate("{name} with axes {axes}", name=name, axes=axes)))
    if len(formula) > LONGEST_FORMULA or not set(_COMMAND.findall(formula)) <= _commands():
        raise _fault("formula", name=name)
    widths = {axis: tuple(map(operator.index, each)) for axis, each in entry["widths"].items() if axis in AXES}
    array = array != 0 if STEPS[name].kind == "allowed" else array.astype(np.float64)
    try:
        for axis, each in widths.items():
            size = array.shape[axes.index(axis)] if axis in axes else max(each, default=0)
            if len(each) != len(array) or not all(1 <= n <= size for n in each):
                raise ValueError(translate("{name} has widths {widths}", name=name, widths=each))
        steps.record(name, array, formula=formula, axes=axes, widths=widths)
    except ValueError as error:
        raise _fault("sizes", why=str(error)[:200]) from None


_COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)")


@cache
def _commands() -> frozenset[str]:
    """Return every command of LaTeX that a formula of ours can hold."""
    rows = (*SCORES.values(), *MASKS.values(), *BIASES.values(), *NORMALISERS.values())
    ours = (*(row.formula for row in rows), *(spec.formula for spec in STEPS.values()), *OTHERS)
    return frozenset(_COMMAND.findall(" ".join(ours)))


OTHERS = (COMMANDS, r"\;\text{and}\;", r"\lceil\rceil,\quad", r"\cdot\tilde\hat\mathrm")
"""The commands in formulas that are put together as a run goes."""

FROM_SCORES = ("allowed", "scores", "scaled", "capped", "masked", "weights")
FROM_VECTORS = ("queries", "keys", "values", *FROM_SCORES, "heads", "concat", "output")
GIVEN = (("weights",), FROM_SCORES, FROM_VECTORS)
RUN = ("w_q", "w_k", "w_v", *FROM_VECTORS)
AROUND = ("embedded", "embedded_kv")


def _check_whole(config: Config, around: Steps, layers: Sequence[Steps]) -> None:
    """Raise ConfigError if a layer lacks a step that every run has, or given attention has others than it can."""
    if isinstance(config, ExternalConfig):
        if around or not any(all(set(layer) == set(names) for layer in layers) for names in GIVEN):
            raise _fault("missing", name=translate("the steps of given attention"))
        return
    needed = FROM_VECTORS if isinstance(config, PretrainedConfig) else RUN
    for names, steps in ((AROUND, around), *((needed, layer) for layer in layers)):
        for missing in (name for name in names if name not in steps):
            raise _fault("missing", name=missing)


def _fault(which: str, **facts: object) -> ConfigError:
    return ConfigError(FAULTS[which].format(**facts))
