"""One HTML file in which a whole run can be looked at: it needs no server, no network and nothing beside itself.

It holds the numbers bit for bit and does the arithmetic of a cell again from them. Its own rules let the browser run
the one script and the one style that are in it, and fetch nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html as markup
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.core.language import Words, spoken
from attnviz.core.scores import SCORES
from attnviz.core.trace import Step, Trace
from attnviz.views.address import link
from attnviz.views.figures import SIGNED, Stage, _short, _sum_up, scale
from attnviz.views.lettering import drawable, word
from attnviz.views.overview import overview
from attnviz.views.sentences import rounded
from attnviz.views.stages import side_by_side

WORDS = Words(
    {
        "keys": "Arrow keys move, Page Up and Page Down change the head.",
        "masked": "masked",
        "forbidden": "the query may not look at the key: −∞",
        "given": "as given",
        "edited": "edited to",
        "query": "query",
        "key": "key",
        "entry": "entry",
        "Query": "Query",
        "Key": "Key",
        "Entry": "Entry",
        "products": "Products",
        "score": "Score",
        "scaled": "Scaled",
        "capped": "Soft cap",
        "bias": "Bias",
        "mask": "Mask",
        "row": "Scores of the row",
        "column": "Scores of the column",
        "largest": "The largest",
        "exponentials": "Exponentials",
        "below": "Below the largest",
        "threshold": "Threshold",
        "positive": "Positive parts",
        "sum": "Sum",
        "weight": "Weight",
        "values": "Weights times values",
        "output": "Output",
        "quoted": "“{token}”",
    }
)
"""What the script writes."""

TEXTS = Words(
    {
        "title": "Attention, step by step",
        "layer": "Layer",
        "cell": "One cell, all the way down",
        "head": "Head",
        "query": "Query",
        "hint": "Point at a cell for its number; click it, or Tab and the arrow keys, for its arithmetic. Terms are "
        "written with six digits and added with all; results have all their digits.",
        "link": "The setting, to be put after the question mark of a link:",
        "no_script": "Without a script there are tables only.",
        "table": "Layer {layer}, {head}: weights, a row for each query",
        "too_many": "There are {n:,} weights, too many for tables; allow scripts to see them.",
    }
)

FIRST = "weights"
"""The stage whose first cell is chosen at the start."""

KEPT = ("queries", "keys", "values", "scores", "bias", "masked", "weights", "heads")
EDITABLE = ("scaled", "capped")
"""Steps that follow from others, so that they are only held where a number in them was changed."""

MOST_IN_TABLES = 4_000
POLICY = "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; form-action 'none'"
PAGE = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1 id="sentence"></h1>
<p class="quiet">{overview}</p>
<noscript><p>{no_script}</p>{tables}</noscript>
<main id="page" hidden>
<p id="layers" class="layers" hidden><label>{layer} <select id="layer"></select></label></p>
<div id="stages" class="stages"></div>
<section class="panel">
<h2>{cell}</h2>
<p class="quiet">{hint}</p>
<form id="choose" class="choose">
<label>{head} <input id="head" type="number" min="1" step="1"></label>
<label>{query} <input id="query" type="number" min="1" step="1"></label>
<label><span id="column"></span> <input id="key" type="number" min="1" step="1"></label>
</form>
<p id="said" aria-live="polite"></p>
<dl id="lines"></dl>
</section>
<section class="panel"><p class="quiet">{link}</p><p id="setting" class="address"></p></section>
</main>
<div id="tip" class="tip" hidden></div>
<script id="run" type="application/json">{run}</script>
<script>{script}</script>
</body>
</html>
"""

_HERE = Path(__file__).parent


def html(trace: Trace) -> str:
    """The run as one interactive HTML file: the stages of every layer, and the arithmetic of any cell."""
    script, style = _own("standalone.js"), _own("standalone.css")
    texts = {name: markup.escape(text) for name, text in TEXTS.items()}
    return PAGE.format_map(
        texts
        | {
            "language": spoken(),
            "policy": POLICY.format(script=_hash(script), style=_hash(style)),
            "style": style,
            "script": script,
            "overview": markup.escape(" ".join(overview(trace))),
            "tables": "".join(_tables(trace)),
            "run": json.dumps(described(trace), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        }
    )


def described(trace: Trace) -> dict[str, Any]:
    """All that the script knows of a run; its numbers as float64 in base64, little end first."""
    config = trace.config
    group = config.group_size
    widths = {name: [each[h // group] for h in range(config.n_heads)] for name, each in _widths(trace).items()}
    own_scale = SCORES[config.score].scale
    return {
        "sentence": drawable(" ".join(config.sentence.split())) or " ".join(map(word, trace.query_tokens)),
        "queries": [word(token) for token in trace.query_tokens],
        "keys": [word(token) for token in trace.key_tokens],
        "words": dict(WORDS),
        "first": FIRST,
        "link": link(config),
        "setting": {
            "score": config.score,
            "scale": [own_scale(d) if config.scale is None else config.scale for d in widths["d_k"]],
            "softcap": config.softcap,
            "normaliser": config.normaliser,
            "temperature": config.temperature,
            "over": config.normalise_over,
            "group": group,
            **widths,
        },
        "layers": [_layer(trace, layer) for layer in range(len(trace.layers))],
    }


def _widths(trace: Trace) -> dict[str, tuple[int, ...]]:
    """The true widths of each key/value head."""
    return {"d_k": trace.config.key_widths(), "d_v": trace.config.value_widths()}


def _layer(trace: Trace, layer: int) -> dict[str, Any]:
    steps = trace.layers[layer]
    changed = {edit[1] for edit in trace.edits if edit[0] == layer}
    kept = [name for name in steps if name in KEPT or name.startswith("score_") or name in changed & {*EDITABLE}]
    return {
        "stages": [_stage(stage) for stage in side_by_side(trace, layer)],
        "steps": {name: _step(steps[name]) for name in kept},
    }


def _step(step: Step) -> dict[str, Any]:
    numbers = np.ascontiguousarray(step.array, dtype="<f8").tobytes()
    return {"shape": list(step.shape), "base64": base64.b64encode(numbers).decode()}


def _stage(stage: Stage) -> dict[str, Any]:
    shades = scale(stage)
    signed = shades.colours is SIGNED
    return {
        "name": stage.name,
        "title": stage.title,
        "phrase": stage.phrase,
        "formula": _sum_up(stage),
        "alt": drawable(stage.alt),
        "heads": list(stage.names),
        "widths": list(stage.true_widths),
        "worded": stage.columns is not None,
        "masked": stage.masked is not None and bool(stage.masked.any()),
        "scale": {
            "low": shades.low,
            "high": shades.high,
            "colours": list(shades.colours),
            "said": [_short(end, signed) for end in (shades.low, shades.high)],
        },
    }


def _tables(trace: Trace) -> Iterator[str]:
    """The weights as plain tables, for a reader without scripts."""
    held = {layer: steps["weights"] for layer, steps in enumerate(trace.layers) if "weights" in steps}
    n = sum(step.array.size for step in held.values())
    if n > MOST_IN_TABLES:
        yield f"<p>{markup.escape(TEXTS['too_many'].format(n=n))}</p>"
        return
    for layer, step in held.items():
        names = next(stage.names for stage in side_by_side(trace, layer) if stage.name == "weights")
        for name, numbers in zip(names, step.array):
            yield _table(trace, TEXTS["table"].format(layer=layer + 1, head=name), numbers)


def _table(trace: Trace, caption: str, numbers: np.ndarray) -> str:
    keys = "".join(f"<th>{markup.escape(word(token))}</th>" for token in trace.key_tokens)
    rows = "".join(
        f"<tr><th>{markup.escape(word(token))}</th>{''.join(f'<td>{rounded(x)}</td>' for x in row)}</tr>"
        for token, row in zip(trace.query_tokens, numbers.tolist())
    )
    return f"<table><caption>{markup.escape(caption)}</caption><tr><th></th>{keys}</tr>{rows}</table>"


@cache
def _own(name: str) -> str:
    """A file of the package that becomes part of the page."""
    return (_HERE / name).read_text("utf-8")


def _hash(text: str) -> str:
    """What the page's own rules call a script or a style by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
