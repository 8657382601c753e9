"""One HTML file in which a whole run can be looked at: it needs no server, no network and nothing beside itself.

It holds the numbers bit for bit and does the arithmetic of a cell again from them; what of them a notebook holds, a
`Part` says. Its own rules let the browser run the one script and the one style that are in it, and fetch nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html as markup
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attnviz.arrays import Array
from attnviz.codegen.javascript import helpers, javascript
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.exports.bundle import joined, without_comments
from attnviz.exports.interactive_layers import layers, movable
from attnviz.exports.interactive_live import Live, live
from attnviz.exports.interactive_part import Part, everything
from attnviz.exports.interactive_words import TEXTS, WORDS, signs
from attnviz.exports.links import setting_of
from attnviz.exports.script.next_words import model_that_writes_on
from attnviz.formula.graph import Formula
from attnviz.formula.names import STEPS
from attnviz.live.entries import named_numbers
from attnviz.live.lines import named_normaliser, named_score
from attnviz.pictures.answer import row_functions
from attnviz.pictures.colours import PAPER
from attnviz.pictures.headings import PAINT, SWITCH
from attnviz.pictures.stages import side_by_side
from attnviz.pictures.static.text_metrics import drawable, word
from attnviz.settings.counting import ordinal
from attnviz.settings.language import current_language, sign, tag
from attnviz.text.cell_sentence import percent
from attnviz.text.format.html_math import quoting
from attnviz.text.format.number_format import DECIMAL_COMMA
from attnviz.text.format.sentence_parts import rounded_number
from attnviz.text.headline import headline
from attnviz.text.query_sentences import visible_token

FIRST = "weights"
"""The stage whose first cell is chosen at the start."""

LONGEST_TITLE = 160
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
<p id="overview" class="quiet">{overview} <span id="as-saved"></span></p>
{notes}<noscript><p>{no_script}</p>{tables}</noscript>
<main id="page" hidden>
<div class="bar">
<span id="views" class="views" role="group" aria-label="{views}" hidden></span>
<label id="layers" hidden>{layer} <select id="layer"></select></label>
<span id="moves" class="knobs" hidden></span>
<span id="knobs" class="knobs" role="group" aria-label="{knobs}" hidden></span>
</div>
<div id="as-cells"><div id="stages" class="stages"></div></div>
<div id="as-lines" hidden>
<label>{head} <select id="of-head"></select></label>
<p class="quiet">{lines_hint}</p>
<div id="between" class="between"><div class="queries"></div><svg preserveAspectRatio="none" aria-hidden="true"></svg>
<div class="keys"></div></div>
</div>
<div id="as-all" hidden></div>
<section class="panel">
<h2>{cell}</h2>
<p id="hint" class="quiet">{hint}</p>
<form id="choose" class="choose">
<label>{head} <input id="head" type="number" min="1" step="1"></label>
<label>{query} <input id="query" type="number" min="1" step="1"></label>
<label><span id="column"></span> <input id="key" type="number" min="1" step="1"></label>
<label id="held" hidden>{number} <input id="number" type="number" step="any"></label>
<button id="allowed" type="button" hidden></button>
<button id="off" type="button" hidden></button>
</form>
<p id="said" aria-live="polite"></p>
<dl id="lines"></dl>
</section>
<section id="linked" class="panel" hidden><p class="quiet">{link}</p><p id="setting" class="address"></p></section>
</main>
<div id="tip" class="tip" hidden></div>
<script id="run" type="application/json">{run}</script>
<script>{script}</script>
</body>
</html>
"""

SCRIPT = Path(__file__).parent / "interactive" / "page.js"


def html(trace: Trace, part: Part | None = None) -> str:
    """Return the run as one interactive HTML file: the stages of every layer, and the arithmetic of any cell.

    part  what of it the file holds; everything if left out
    """
    part = part or everything(trace)
    moved = live(trace, part)
    script = _script().replace(NO_FORMULAS, _formulas(trace)).replace(NOT_WRITTEN, _written(trace))
    script, style = script.replace(NO_LINES, lines_of(moved)), _style()
    texts = {name: markup.escape(text) for name, text in TEXTS.items()}
    texts |= {
        "language": tag(current_language()),
        "policy": POLICY.format(script=_hash(script), style=_hash(style)),
        "style": style,
        "script": script,
        "overview": quoting(sign(" ").join(headline(trace))),
        "notes": _paragraph("notes", trace.notes)
        + _paragraph("next", next_words(trace))
        + _paragraph("bound", part.said),
        "tables": "".join(_tables(trace, part)),
    }
    before, after = (half.format_map(texts) for half in PAGE.split("{run}"))
    return "".join([before, *_run(trace, part, moved), after])


def next_words(trace: Trace) -> list[str]:
    """Return what the model of a run goes on with, and that the file ends before it; nothing for other runs."""
    model = model_that_writes_on(trace)
    if model is None:
        return []
    likely = [
        (piece.removeprefix("Ġ").removeprefix("▁") or piece, share) for piece, share in model.next_words(trace, 3)
    ]
    each = [TEXTS["next_word"].format(word=visible_token(said), share=percent(share)) for said, share in likely]
    return [TEXTS["next_words"].format(words=sign(", ").join(each))]


def _paragraph(name: str, sentences: Sequence[str]) -> str:
    """Return what is to be said of a run, or nothing if that is nothing."""
    said = markup.escape(drawable(" ".join(sentences)))
    return f'<p id="{name}" class="quiet">{said}</p>\n' if sentences else ""


def _run(trace: Trace, part: Part, moved: Live | None) -> Iterator[str]:
    """Yield what the script reads, a layer at a time: all of a large run would take several times its memory."""
    whole = _json(described(trace) | {"live": moved and movable(moved)})
    yield f'{whole[:-1]},"layers":['
    for place, layer in enumerate(layers(trace, part)):
        yield "," * bool(place) + _json(layer)
    yield "]}"


def _json(value: dict[str, Any]) -> str:
    """Return it as JSON in which no tag can stand."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


NO_FORMULAS = "const TYPED = {};"
"""The line of the script in whose place typed formulas stand as functions."""


def _formulas(trace: Trace) -> str:
    """Return the functions of the score and the normaliser; the page's rules know the script with them in it."""
    score, normaliser = _definitions(trace)
    functions = [f"{name}: {javascript(f)}" for name, f in (("score", score), ("normaliser", normaliser)) if f]
    listed = ",\n".join(functions)
    return f"{helpers(listed)}const TYPED = {{\n{listed}\n}};" if functions else NO_FORMULAS


NOT_WRITTEN = "const written = () => null;"
"""The line of the script in whose place stands what a row says of the weights that no line says."""


def _written(trace: Trace) -> str:
    """Return that line, as the row of the run's normaliser has it."""
    row = normaliser_of(trace.config).written
    return NOT_WRITTEN.replace("() => null", f"(x, place, head) => {row.browser}") if row else NOT_WRITTEN


NO_LINES = "const LINES = {};"
"""The line of the script in whose place the lines of the rows stand as functions."""


def lines_of(moved: Live | None) -> str:
    """Return that line, with what computes the scores, the mask, the bias and the weights of a run anew."""
    if moved is None:
        return NO_LINES
    listed = ",\n".join(f"{json.dumps(name)}: {source}" for name, source in moved.lines.items())
    return f"const LINES = {{\n{listed}\n}};"


def _definitions(trace: Trace) -> tuple[Formula | None, Formula | None]:
    """Return the lines of the score and of the normaliser, as far as they have one; numbers to move have names."""
    row = normaliser_of(trace.config)
    score, normaliser = named_score(trace.config), named_normaliser(trace.config)
    its_own = None if row.written else row.definition
    return score[0] if score else score_of(trace.config).definition, normaliser[0] if normaliser else its_own


def _typed(trace: Trace) -> dict[str, Any]:
    """Return the arguments of the functions of the lines, and the settings of the names in them."""
    config = trace.config
    score, normaliser = _definitions(trace)
    typed: dict[str, Any] = {}
    if score:
        named = named_score(config)
        typed["score"] = row_functions.arguments(score) | {"keys": named[1] if named else {}}
    if normaliser:
        named = named_normaliser(config)
        learned = {name: STEPS[name] for name in normaliser.parameters}
        typed["normaliser"] = {"text": normaliser.text, "keys": learned | (named[1] if named else {})}
    return typed


def _knobs(trace: Trace) -> dict[str, Any]:
    """Return the numbers of the lines by the names of their settings."""
    named = named_score(trace.config), named_normaliser(trace.config)
    return {name: value for each in named if each for name, value in each[2].items()}


def described(trace: Trace) -> dict[str, Any]:
    """Return all that the script knows of a run but its layers."""
    config = trace.config
    group = config.group_size
    widths = {name: [each[h // group] for h in range(config.n_heads)] for name, each in _widths(trace).items()}
    own_scale = score_of(config).scale
    return {
        "sentence": _title(drawable(" ".join(config.sentence.split())) or " ".join(map(word, trace.query_tokens))),
        "queries": [word(token) for token in trace.query_tokens],
        "keys": [word(token) for token in trace.key_tokens],
        "has_comma": current_language() in DECIMAL_COMMA,
        "words": dict(WORDS) | dict(SWITCH) | dict(PAINT) | signs(),
        "first": FIRST,
        "link": setting_of(trace),
        "setting": {
            "scale": [own_scale(d) if config.scale is None else config.scale for d in widths["d_k"]],
            "softcap": config.softcap,
            "temperature": config.temperature,
            "over": config.normalise_over,
            "group": group,
            "d_a": config.d_a,
            **named_numbers(trace),
            "typed": _typed(trace),
            "knobs": _knobs(trace),
            **widths,
        },
    }


def _title(sentence: str) -> str:
    """Return the sentence as far as a heading has room for it, in whole words where it has some.

    >>> len(_title("word " * 100)), _title("word " * 100)[-8:]
    (161, 'd word …')
    """
    if len(sentence) <= LONGEST_TITLE:
        return sentence
    start = sentence[:LONGEST_TITLE]
    return f"{start.rpartition(' ')[0] or start} …"


def _widths(trace: Trace) -> dict[str, tuple[int, ...]]:
    """Return the true widths of each key/value head."""
    return {"d_k": trace.config.key_widths(), "d_v": trace.config.value_widths()}


def _tables(trace: Trace, part: Part) -> Iterator[str]:
    """Yield the weights as plain tables, for a reader without scripts."""
    n = len(part.layers) * trace.config.n_heads * len(trace.query_tokens) * len(trace.key_tokens)
    if n > MOST_IN_TABLES:
        yield f"<p>{markup.escape(TEXTS['too_many'].format(n=n))}</p>"
        return
    for layer in part.layers:
        names = next(stage.names for stage in side_by_side(trace, layer) if stage.name == "weights")
        for name, numbers in zip(names, trace.layers[layer]["weights"].array):
            yield _table(trace, TEXTS["table"].format(layer=ordinal(layer), head=name), numbers)


def _table(trace: Trace, caption: str, numbers: Array) -> str:
    keys = "".join(f"<th>{markup.escape(word(token))}</th>" for token in trace.key_tokens)
    rows = "".join(
        f"<tr><th>{markup.escape(word(token))}</th>{''.join(f'<td>{rounded_number(x)}</td>' for x in row)}</tr>"
        for token, row in zip(trace.query_tokens, numbers.tolist())
    )
    return f"<table><caption>{markup.escape(caption)}</caption><tr><th></th>{keys}</tr>{rows}</table>"


@cache
def _script() -> str:
    """Return the modules as one script, whose names are its own."""
    return f'"use strict";\n(() => {{\n{without_comments(joined(SCRIPT))}}})();\n'


@cache
def _style() -> str:
    sheet = Path(__file__).with_suffix(".css").read_text("utf-8")
    return re.sub(r"var\(--paper-([a-z]+)(-dark)?\)", lambda name: PAPER[name[1]][bool(name[2])], sheet)


def _hash(text: str) -> str:
    """Return the name of a script or a style in the page's content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
