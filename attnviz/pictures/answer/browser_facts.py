"""The facts from which a browser explains any cell of a stage as `explanation` does, beside its arrays.

The facts say how the numbers of a cell follow from the arrays, and the words in which that is said; `explanation.js`
reads both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from attnviz.arithmetic.cell_position import AND, QUOTED, WHY
from attnviz.arithmetic.notation.line_words import LINES
from attnviz.engine.external.layer_plans import plan_of_layer
from attnviz.engine.external.traces import is_external
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.records.config import Config, all_but_seed
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.engine.tables.masks import MASKS, allowed, settings_of
from attnviz.engine.tables.tokenisers import PAD
from attnviz.live.entries import BY_ENTRY, Tree, operations_of, settings_in, trees_of_layer
from attnviz.pictures.answer import explanation_parts, row_functions
from attnviz.pictures.answer.explanation import MATCH, NOTES, notes
from attnviz.pictures.answer.explanation import WORDS as TITLES
from attnviz.pictures.figures import EXACT_UP_TO
from attnviz.pictures.stage_bytes import NamedArray, packed
from attnviz.settings.kept import Kept
from attnviz.settings.language import current_language, sign, translate
from attnviz.text import cell_sentence, opening_sentence
from attnviz.text.format.number_format import DECIMAL_COMMA
from attnviz.text.format.patch_words import has_patches, table_of
from attnviz.text.format.sentence_parts import in_brackets
from attnviz.text.query_sentences import visible_token

ALLOWED, FORBIDDEN_BY = "allowed", "forbidden_by"
"""Arrays that only an answer needs: where a query may attend, and the masks that say no, a bit each.

(query, key), or (head, query, key) where each head has a mask of its own.
"""

READ = ("queries", "keys", "values", "scores", "bias", "weights", "heads")
"""Steps that an answer reads, with the parameters of the score."""


class _Many(int):
    """A number of many things that stays a name in braces where it is written."""

    def __format__(self, spec: str) -> str:
        return "{n}"


BETWEEN = ("scaled", "capped", "masked")
"""Steps that a browser computes anew from the scores, so that it does not see what was changed in them by hand."""


ROWS = {"scores": "score", "weights": "normalise", "heads": "mix"}
"""The other steps of attention, and the row or the operation that makes each."""

_kept = Kept[tuple[object, Mapping[str, Any] | None]](most=32)
"""The facts of layers of settings, with the rows that they are of: the name of one that is kept is that of no other."""

SAID = {"scale", "softcap"}
"""Numbers of the setting for which an answer has words where they stand between scores and weights."""


def facts(trace: Trace, layer: int) -> dict[str, Any] | None:
    """Return the facts of a layer; None where a run explains its cells.

    As numbers were brought along, some between the scores and the weights were changed by hand, or the plan of the
    layer says more of it than the words of an answer.
    """
    if is_external(trace) or any(edit[0] == layer and edit[1] in BETWEEN for edit in trace.edits):
        return None
    plan = between(trace, layer)
    if plan is None:
        return None
    config, recorded = trace.config, [*trace.layers[layer]]
    its = normaliser_of(config)
    of_head = [head // config.group_size for head in range(config.n_heads)]
    d_k, d_v = ([widths[group] for group in of_head] for widths in (config.key_widths(), config.value_widths()))
    row = score_of(config)
    return {
        "over": config.normalise_over,
        "group": config.group_size,
        "d_k": d_k,
        "d_v": d_v,
        "d_a": config.d_a,
        "scale": [row.scale(d) if config.scale is None else config.scale for d in d_k],
        "plan": plan,
        "by_width": config.scale is None and row.is_over_root,
        "softcap": config.softcap,
        "temperature": config.temperature,
        "is_indifferent": its.is_indifferent,
        "sums_to_one": its.sums_to_one,
        "judges_alone": its.judges_alone,
        "leaves_a_rest": its.leaves_a_rest,
        "is_masked": config.mask != ("none",),
        "masks": [translate(QUOTED, label=MASKS[name].label) for name in config.mask],
        "painted": translate(QUOTED, label=MASKS["custom"].label),
        "reach": facts_of(config).reach(layer),
        "visible": {side: [*map(visible_token, words)] for side, words in _tokens(trace).items()},
        "score": row_functions.score(config, recorded),
        "normaliser": row_functions.normaliser(config),
        "functions": row_functions.functions(config, recorded),
        "words": words(patches=has_patches(trace)) | {"notes": notes(trace, layer)},
    }


def between(trace: Trace, layer: int) -> dict[str, Tree] | None:
    """Return what the steps from the scores to the normaliser are made of; None where an answer has no words for it.

    An answer speaks of one score, one normaliser and one sum of values, and of the numbers in `SAID` between them.

    >>> from attnviz import Config, run
    >>> between(run(Config(sentence="the cat", mask="causal")), 0)["masked"]
    ['only_where', 'capped', 'allowed']
    """
    trees = trees_of_layer(trace, layer)
    said = {name: tree for name, tree in trees.items() if name in BETWEEN}
    others = {name: _row_of(tree) for name, tree in trees.items() if name not in BETWEEN}
    settings = {name for tree in said.values() for name in settings_in(tree)}
    operations = {op for tree in said.values() for op in operations_of(tree)}
    is_said = others == ROWS and settings <= SAID and operations <= {*BY_ENTRY}
    return said if is_said else None


def _row_of(tree: Tree) -> str:
    """Return the operation of a tree that reads steps alone, or nothing."""
    return tree[0] if isinstance(tree, list) and all(isinstance(part, str) for part in tree[1:]) else ""


def arrays(trace: Trace, layer: int) -> Mapping[str, NamedArray]:
    """Return the arrays of a layer that only an answer needs, by their names; none where nothing is forbidden."""
    steps = trace.layers[layer]
    if "allowed" not in steps or steps["allowed"].array.all():
        return {}
    mask = steps["allowed"]
    return {
        ALLOWED: (mask.axes, np.asarray(mask.array, bool)),
        FORBIDDEN_BY: (mask.axes, _forbidden_by(trace, mask.shape)),
    }


class CellFacts(NamedTuple):
    """The facts and numbers from which a browser explains any cell of a layer.

    header  the facts and the words, which are the same whatever the numbers are, and a name for them
    arrays  the numbers, by their names
    head    the one that is spoken of while none is chosen
    is_computed  whether the browser computes the numbers, as it does of what is held, and none are sent
    """

    header: Mapping[str, Any]
    arrays: Mapping[str, NamedArray]
    head: int
    is_computed: bool = False

    @property
    def packed(self) -> bytes:
        """The facts without the numbers, packed as a stage is."""
        return packed(self.header, {})


def cells_of(trace: Trace, layer: int, head: int | None = None, *, computes: bool = False) -> CellFacts | None:
    """Return what a browser needs to explain any cell of a layer; None where a run explains it.

    That is also so where there are more numbers than a click is worth, more than `EXACT_UP_TO` in one array, unless the
    browser computes them. What it does not compute is what forbids a cell: there is to be one mask, as it was set.

    head      the one of the weight that tells most, where it is known
    computes  whether the browser has a program of the run, as it does where numbers can be held
    """
    steps = {name: (step.axes, step.array) for name, step in trace.layers[layer].items() if _is_read(name)}
    is_large = any(array.size > EXACT_UP_TO for _, array in steps.values())
    if is_large and not (computes and _has_one_mask(trace, layer)):
        return None
    header = _header(trace, layer)
    if header is None:
        return None
    if head is None:
        head = opening_sentence.telling(trace, layer)[0]
    return CellFacts(header, {} if is_large else steps | dict(arrays(trace, layer)), head, is_large)


def _has_one_mask(trace: Trace, layer: int) -> bool:
    is_edited = any(edit[:2] == (layer, ALLOWED) for edit in trace.edits)
    return len(trace.config.mask) == 1 and facts_of(trace.config).reach(layer) is None and not is_edited


def _header(trace: Trace, layer: int) -> Mapping[str, Any] | None:
    """Return the facts and the words of a layer, which are those of any seed; None where a run explains its cells."""
    config = trace.config
    if type(config) is not Config or trace.edits:
        return _said(trace, layer)
    rows = score_of(config), normaliser_of(config), *(MASKS[name] for name in config.mask)
    of = plan_of_layer(trace, layer), *rows
    key = current_language(), all_but_seed(config), layer, *map(id, of)  # a row may take the place of another
    return _kept.get(key, lambda: (of, _said(trace, layer)))[1]


def _said(trace: Trace, layer: int) -> Mapping[str, Any] | None:
    said = facts(trace, layer)
    if said is None:
        return None
    header: dict[str, Any] = {"words": _tokens(trace), "answer": said}
    return header | {"name": blake2b(json.dumps(header).encode(), digest_size=8).hexdigest()}


def _is_read(name: str) -> bool:
    return name in READ or name.startswith("score_")


def _tokens(trace: Trace) -> dict[str, tuple[str, ...]]:
    return {"query": trace.query_tokens, "key": trace.key_tokens}


def _forbidden_by(trace: Trace, shape: tuple[int, ...]) -> Any:
    """Return for each cell the masks of the settings that do not allow it, a bit for the place of each."""
    tokens = trace.query_tokens, trace.key_tokens
    pad = np.array([token == PAD for token in tokens[1]], dtype=bool)
    found = np.zeros(shape, np.int32)
    for place, name in enumerate(trace.config.mask):
        may = allowed((name,), len(tokens[0]), pad, {name: settings_of(trace.config, name, tokens)})
        found |= np.where(may, 0, 1 << place).astype(np.int32)
    return found


def words(*, patches: bool = False) -> dict[str, Any]:
    """Return all words of an answer, in the language of the page, of patches where these are the tokens."""
    return dict(_words(current_language(), patches))


@cache
def _words(language: str, patches: bool) -> Mapping[str, Any]:
    tied = {"one": cell_sentence.TIED.format(n=1), "many": cell_sentence.TIED.format(n=_Many(2))}
    return {
        "titles": table_of(TITLES, patches=patches),
        "notes": dict(NOTES),
        "parts": table_of(explanation_parts.WORDS, patches=patches),
        "typed_match": MATCH["typed"],
        "attends": dict(cell_sentence.LOOKING),
        "rank": dict(cell_sentence.RANK) | tied,
        "why": dict(WHY),
        "and": translate(AND),
        "comma": sign(", "),
        "again": in_brackets("{n}"),
        "percent": cell_sentence.percents(),
        "weight": {name: LINES[name][1] for name in ("emptied", "weight_of_formula")},
        "line": {"keys": translate("row"), "queries": translate("column")},
        "has_comma": language in DECIMAL_COMMA,
    }
