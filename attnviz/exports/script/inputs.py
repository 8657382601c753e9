"""The parts of a script before the layers: the setting, embeddings and positions, mask and bias by distance."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from attnviz.codegen.words import Words
from attnviz.engine.external.layer_plans import plan_of_layer
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import TYPED, bias_formula, learned_bias
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.embeddings import EMBEDDINGS
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.exports.script import rows, typed
from attnviz.exports.script.lines import Lines, indented, listed, matrix
from attnviz.exports.script.model_parameters import stored

T5_DRAWN = 'normal("t5_bias", (n_heads, t5_n_buckets))'
"""The numbers of T5's buckets in a script that draws them, in place of which one of a model has those learned."""

LONG = 90
"""Columns after which several masks stand under each other."""

CARRIED = ("own", "meaning")
"""Embeddings whose numbers a script holds, as it cannot make them."""

TEXTS_OF_THEIR_OWN = (
    *("seed", "own_numbers", "own_numbers_second", "custom_cells"),
    *("score_formula", "mask_formula", "bias_formula", "normaliser_formula"),
)
"""Settings that a script has in another form."""


@dataclass(frozen=True)
class Given:
    """The context in which a row writes the lines of a script that come before its own.

    config  the setting;  words  those of the library;  kv  the ending of the names of the keys' tokens
    n_query, n_key  the tokens;  listed  writes items in brackets, in as many lines as it takes
    """

    config: Config
    words: Words
    kv: str
    n_query: int
    n_key: int
    listed: Callable[[Sequence[str]], str] = listed


def _given_inputs(trace: Trace, words: Words) -> Given:
    n_query, n_key = trace.layers[0]["scores"].shape[-2:]
    return Given(trace.config, words, kv(trace), n_query, n_key)


def kv(trace: Trace) -> str:
    """Return the ending of the names of the keys' tokens and rows."""
    return "_kv" if trace.config.is_cross_attention else ""


def setting(trace: Trace) -> list[str]:
    """Return the numbers of the setting, each under its name."""
    config = trace.config
    lines = [f"d_model, n_heads = {config.d_model}, {config.n_heads}"]
    if config.group_size > 1:
        lines.append(f"n_kv_heads = {config.kv_heads}  # head h uses the keys and values of h // {config.group_size}")
    lines += _widths("d_k", config.key_widths(), "d_q", config) + _widths("d_v", config.value_widths(), "d_z", config)
    lines += [f"n_layers = {config.n_layers}"] if config.n_layers > 1 else []
    lines += [f"{name} = {getattr(config, name)!r}" for name in _used(config)]
    named = [name for name in plan_of_layer(trace, 0).settings if name != "scale"]  # which is a line of its own
    named += ["temperature"] if config.temperature != 1.0 else []
    return lines + [f"{name} = {getattr(config, name)!r}" for name in dict.fromkeys(named)]


def _widths(name: str, widths: tuple[int, ...], each: str, config: Config) -> list[str]:
    """Return one width, or a list of them; heads that share keys and values have a list of their own."""
    if len(set(widths)) == 1:
        return [f"{name} = {widths[0]}"]
    shared = config.group_size > 1
    lines = [f"{name} = {list(widths)}  # of each {'key/value ' if shared else ''}head"]
    return lines + ([f"{each} = [d for d in {name} for _ in range({config.group_size})]"] if shared else [])


def _used(config: Config) -> list[str]:
    """Return the settings that the chosen rows take, each once.

    Those of the buckets are decided where they are needed.
    """
    rows = [POSITIONS[config.position], *(MASKS[name] for name in config.mask), BIASES[config.bias]]
    names = [name for row in rows for name in row.uses]
    names += ["d_a"] if typed.uses_hidden_width(config) else []
    names += ["d_ff"] if config.feed_forward != "none" else []
    left_out = (*TEXTS_OF_THEIR_OWN, "t5_max_distance", "t5_bidirectional")
    return [name for name in dict.fromkeys(names) if name not in left_out]


def tokens(trace: Trace) -> str:
    """Return the tokens as lists of strings; nothing that was typed can be anything else, for `repr` writes it."""
    lines = [f"tokens = {listed([repr(token) for token in trace.query_tokens])}"]
    if trace.config.is_cross_attention:
        lines.append(f"tokens_kv = {listed([repr(token) for token in trace.key_tokens])}")
    return "\n".join(lines)


def embedded(lines: Lines, trace: Trace) -> None:
    """Write E, P and X, for the second sentence too."""
    config = trace.config
    suffixes = ("", "_kv") if config.is_cross_attention else ("",)
    if config.embedding == "one_hot":
        both = "tokens + tokens_kv" if config.is_cross_attention else "tokens"
        lines.write(f"vocabulary = list(dict.fromkeys({both}))")
    for suffix in suffixes:
        numbers = _numbers(lines, trace, suffix) if config.embedding in CARRIED else ""
        code = rows.EMBEDDINGS[config.embedding].format(tokens=f"tokens{suffix}", numbers=numbers, np=lines.words.np)
        lines.step(f"token_embeddings{suffix}", code)
    lines.end("embedding")
    for suffix in suffixes:
        _positions(lines, config, suffix)
    lines.end("position")


def _numbers(lines: Lines, trace: Trace, suffix: str) -> str:
    """Return the rows of E that no line of a script can make, as they were before any was changed."""
    config, name = trace.config, f"token_embeddings{suffix}"
    if not lines.edited(name):
        return matrix(trace.around[name].array, lines.words)
    row = EMBEDDINGS[config.embedding]
    settings = _own_numbers(config, suffix) if config.embedding == "own" else row.settings(config)
    return matrix(row.fn(_tokens(trace, suffix), config.d_model, (), **settings), lines.words)


def _tokens(trace: Trace, suffix: str) -> tuple[str, ...]:
    return trace.key_tokens if suffix else trace.query_tokens


def _own_numbers(config: Config, suffix: str) -> dict[str, str]:
    return {"own_numbers": config.own_numbers_second if suffix else config.own_numbers}


def _positions(lines: Lines, config: Config, suffix: str) -> None:
    np = lines.words.np
    code = rows.POSITIONS[config.position].format(tokens=f"tokens{suffix}", np=np)
    is_none = not code and not lines.edited(f"positions{suffix}")
    if not is_none:
        lines.step(f"positions{suffix}", code or f"{np}.zeros((len(tokens{suffix}), d_model))")
    code = f"E{suffix}" if is_none else f"E{suffix} + P{suffix}"
    lines.step(f"embedded{suffix}", code, same=is_none)


def needs_mask(trace: Trace) -> bool:
    """Return whether a cell can be forbidden at all."""
    edited = any(edit[1] == "allowed" for edit in trace.edits)
    return trace.config.mask != ("none",) or _differs_by_layer(trace) or edited


def _differs_by_layer(trace: Trace) -> bool:
    """Return whether a layer of a trained model looks at a part of the tokens only: near ones, or one of two texts."""
    facts = facts_of(trace.config)
    return bool(facts.reads) or any(reach is not None for reach in facts.windows)


def needs_bias(trace: Trace) -> bool:
    """Return whether something is added to the scores."""
    return trace.config.bias != "none"


def indices(lines: Lines, trace: Trace) -> None:
    """Write the rows' numbers as a column and the columns' as a row, for whatever is said of them."""
    codes = [rows.mask(name) for name in trace.config.mask]
    by_position = _differs_by_layer(trace) or any(not code or re.search(r"\b[ij]\b", code) for code in codes)
    masks_by_position = needs_mask(trace) and by_position
    if needs_bias(trace) or masks_by_position or typed.needs(trace.config, "i", "j"):
        np = lines.words.np
        lines.write(
            f"i, j = {np}.arange(len(tokens))[:, None], {np}.arange(len(tokens{kv(trace)}))[None, :]  # query and key"
        )
    if facts_of(trace.config).reads:
        lines.write("n_first = len(tokens_kv) - len(tokens)  # the columns before these are those of the first text")
    if typed.needs(trace.config, "h"):
        lines.write(typed.HEAD_NUMBERS.format(np=lines.words.np))
    lines.end("indices")


def given(lines: Lines, trace: Trace, name: str, *, changed: bool) -> None:
    """Write M or B where it is needed: one that was changed stands in the layer, the others are alike in all.

    Where layers of a model look at different parts of the tokens, M stands in each.
    """
    needed, write = {"allowed": (needs_mask, _mask), "bias": (needs_bias, _bias)}[name]
    differs = any(edit[1] == name for edit in trace.edits) or (name == "allowed" and _differs_by_layer(trace))
    learned = name == "bias" and learned_bias(trace.config) is not None  # it is a step of the layer
    if needed(trace) and changed == differs and not learned:
        write(lines, trace)


def _mask(lines: Lines, trace: Trace) -> None:
    """Write M, True where every mask allows the cell."""
    names: list[str] = [name for name in trace.config.mask if name != "none"] or ["none"]
    for row in (MASKS[name] for name in names):
        lines.write(*(row.script_before(_given_inputs(trace, lines.words)) if row.script_before else ()))
    each = {name: rows.mask(name) for name in names}
    if TYPED in names:
        typed_mask = typed.mask(trace, lines.words)
        lines.write(*typed_mask.before)
        each[TYPED] = typed_mask.code
    reach = facts_of(trace.config).reach(lines.layer or 0)
    each |= {} if reach is None else {"reach": f"(i - j <= {reach})"}
    if facts_of(trace.config).reads:
        each = _of_decoder(each, trace, lines.layer or 0)
    code = " & ".join(each.values())
    if len(code) > LONG and TYPED not in names:
        code = "\n".join(["(", *indented([code.replace(" & (", "\n& (")]), ")"])
    if len(each) == 1 and code.startswith("(") and code.count(")") == 1:
        code = code[1:-1]
    lines.step("allowed", code)
    lines.end("mask")


def _of_decoder(each: Mapping[str, str], trace: Trace, layer: int) -> dict[str, str]:
    """Return the masks of a layer of a decoder, which looks at one of its two texts."""
    config = trace.config
    if facts_of(config).reads[layer] == "own":
        return {"text": "(j >= n_first)"} | {name: _behind(code) for name, code in each.items()}
    own = getattr(config, "own_masks", ())
    return {"text": "(j < n_first) & (i >= 0)"} | {name: code for name, code in each.items() if name not in own}


def _behind(code: str) -> str:
    """Return code in which the columns are counted from those of the second text on.

    >>> _behind("(j <= i)")
    '((j - n_first) <= i)'
    """
    return re.sub(r"\bj\b", "(j - n_first)", code)


def _bias(lines: Lines, trace: Trace) -> None:
    """Write B, which is added to the scores by distance."""
    config = trace.config
    *before, code = (line.format(np=lines.words.np) for line in BIASES[config.bias].script or ("",))
    formula = bias_formula(config)
    if formula:
        typed_bias = typed.bias(trace, formula, lines.words)
        before, code = list(typed_bias.before), typed_bias.code
    if (buckets := facts_of(config).buckets) is not None:
        code = code.replace(T5_DRAWN, "buckets")
        before = [*before, f"buckets = {stored(buckets, lines.words)}"]
    first = BIASES[config.bias].script_before
    opened = [*(first(_given_inputs(trace, lines.words)) if first else ()), *before]
    lines.write(*(map(_behind, opened) if facts_of(config).reads else opened))
    lines.step("bias", code)
    lines.end("bias")
