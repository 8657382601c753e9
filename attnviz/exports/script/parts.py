"""A script as a list of parts, with their titles and what is said of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from attnviz.engine.pretrained.model_registry import model_of
from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.blocks import NORMS
from attnviz.engine.tables.embeddings import EMBEDDINGS
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.scores import SCORES
from attnviz.exports.script import inputs
from attnviz.exports.script.layers import LayerScript
from attnviz.exports.script.lines import Lines, Part
from attnviz.exports.script.model_parameters import are_in_script, stored, write_weights
from attnviz.exports.script.next_words import about_matrix, write_next_words
from attnviz.exports.script.parameters import write_learned, write_solved
from attnviz.settings.language import Words, sign

VERBATIM = ("tokens", "vocabulary")
"""The parts that hold what others wrote, as texts: nothing is read off their words, and no line of them is broken."""

TEXTS = Words(
    {
        "setting": ("The setting", "Every number that was chosen."),
        "draws": (
            "Random numbers",
            "Every number is a function of the seed, a name and its indices, so the same are drawn on any machine.",
        ),
        "functions": ("Functions", "What takes more than a line, once."),
        "tokens": ("Tokens", "The sentence, already cut."),
        "embedding": ("Embedding", "{embedding}"),
        "position": ("Positions", "{position}"),
        "encoder": (
            "What the encoder returns",
            "Its result for the first text, as bytes; behind it a row of zeros for each token of the second.",
        ),
        "made": (
            "Matrices made by hand",
            "Nothing here was learned or drawn: least squares found, for this one sentence, the matrices that turn the "
            "rows of X into points on a circle, such that each query lies where the keys lie that it is to read; or, "
            "for similar meaning, into the directions of the words' vectors.",
        ),
        "learned": (
            "Matrices that were learned",
            "Their numbers as bytes, a layer after the other: nothing is lost, and print shows them.",
        ),
        "indices": ("Rows and columns", "Rows are queries, columns are keys."),
        "mask": ("Mask", "True where a query may attend. {mask}"),
        "bias": ("Bias by distance", "{bias}"),
        "sinks": (
            "Sinks",
            "The score of a key without a value, one for each head: what is taken away from all scores, so that it "
            "is 0.",
        ),
        "normed": ("Layer norm", "{norm}"),
        "projections": ("Projections", "{projections}"),
        "queries": ("Queries, keys and values", "What each token asks for, what it answers to, and what it passes on."),
        "scores": ("Scores", "{score}"),
        "masked": ("What is allowed", "Minus infinity where a query may not attend."),
        "biased": ("With the bias", "What is added by distance alone."),
        "masked_biased": ("With the bias, where it is allowed", "Minus infinity where a query may not attend."),
        "weights": ("Weights", "{normaliser}"),
        "heads": ("Each head's output", "The values, mixed by the weights."),
        "concat": ("Side by side", "The heads are joined, column after column."),
        "output": ("Output", "One matrix mixes what the heads found."),
        "after_attention": ("After attention", "{after}"),
        "feed_forward": (
            "Feed-forward block",
            "Two matrices with a nonlinearity between them, applied to every position alike.",
        ),
        "after_feed_forward": ("After the block", "{after}"),
        "frequencies": (
            "Rotation",
            "The angle a position by which each pair of columns of queries and keys is rotated.",
        ),
        "matrices": ("The matrices of the trained model", "{matrices}"),
        "final": ("The last norm", "What the next words are read off."),
        "hand_on": ("On to the next layer", "The output of one layer is the input of the next."),
        "unembedding": ("The output matrix", "A row for each word that the model knows. {unembedding}"),
        "vocabulary": ("The words", "They stand in the order of the rows of that matrix."),
        "next_words": (
            "The next words",
            "The product of the last row with the row of a word is the logit of that word, and softmax makes shares of "
            "them: the likeliest words are printed.",
        ),
        "print": ("The weights", "A row for each query, a column for each key."),
        "module": (
            "The same as a module",
            "torch.nn.MultiheadAttention holds the same matrices, transposed and one under the other. In its attn_mask "
            "True means may NOT attend.",
        ),
    }
)
"""The title of each part and a sentence; in braces the note of the row that is chosen."""

AFTER = Words(
    {
        "": "",
        "added": "The residual connection: what was read is added.",
        "normed": "Layer norm: each row gets mean 0 and deviation 1.",
        "added normed": "The residual connection adds what was read; layer norm gives each row mean 0 and deviation 1.",
    }
)
"""The comment on what follows a block, by what does: a residual connection, and a norm after it."""


def parts(trace: Trace, *, looped: bool, write: type[LayerScript] = LayerScript) -> list[Part]:
    """Return the parts of a script in order.

    Several layers stand in a loop if `looped`, otherwise one after the other, as those of a trained model always do,
    for they need not be alike; `write` writes a layer.
    """
    n = trace.config.n_layers
    is_model = is_pretrained(trace)
    around = Lines(trace, (None,), write.words)
    if is_model:
        around.step("token_embeddings", stored(trace.around["token_embeddings"].array, write.words))
        write(around, trace).write(last=True)
        if trace.config.is_cross_attention:
            around.step("embedded_kv", stored(trace.around["embedded_kv"].array, write.words))
            around.end("encoder")
        write_weights(around, trace)
    else:
        inputs.embedded(around, trace)
        write_solved(around, trace)
        write_learned(around, trace)
    inputs.indices(around, trace)
    alike = Lines(trace, tuple(range(n)), write.words)
    for name in ("allowed", "bias"):
        inputs.given(alike, trace, name, changed=False)
    script_parts = [*around.parts, *(replace(part, layer=None) for part in alike.parts)]
    in_loop = n > 1 and looped and not is_model
    for layers in [tuple(range(n))] if in_loop else [(layer,) for layer in range(n)]:
        lines = Lines(trace, layers, write.words, looped=in_loop)
        handed_on = write(lines, trace).write(last=layers == (n - 1,))
        script_parts += lines.parts
    if is_model:
        end = Lines(trace, (None,), write.words)
        write_next_words(end, trace, handed_on)
        script_parts += end.parts
    return script_parts


def words(part: Part, trace: Trace) -> tuple[str, str]:
    """Return the title of a part and what is said of it."""
    config = trace.config
    title, text = TEXTS[part.name]
    notes = {
        "matrices": "",
        "unembedding": "",
        "embedding": EMBEDDINGS[config.embedding].note,
        "position": POSITIONS[config.position].note,
        "mask": sign(" ").join(MASKS[name].note for name in config.mask),
        "bias": BIASES[config.bias].note,
        "projections": INITIALISERS[config.initialiser].note,
        "score": SCORES[config.score].note,
        "normaliser": NORMALISERS[config.normaliser].note,
        "after": AFTER[_after(config)],
        "norm": NORMS[config.norm].note,
    }
    if is_pretrained(trace):
        matrices = OF_MODEL["bytes" if are_in_script(model_of(trace)) else "files"]
        notes |= {"embedding": OF_MODEL["tables"], "bias": OF_MODEL["buckets"]}
        notes |= {"matrices": matrices, "unembedding": about_matrix(trace)}
    return title, text.format(**notes)


def _after(config: Config) -> str:
    """Return what follows a block, as a name of AFTER."""
    is_normed = NORMS[config.norm].applied == "after"
    return " ".join(name for name, is_there in (("added", config.residual), ("normed", is_normed)) if is_there)


OF_MODEL = Words(
    {
        "bytes": "Their numbers as bytes, a layer after the other: nothing is lost, and print shows them.",
        "files": "They are too many to stand here, so they are read from the model's files, whose hash says which they "
        "are.",
        "buckets": "A learned number for each range of distances and each head, the same in all layers.",
        "tables": "The vectors of these tokens from the model's tables, and what is made of them before the first "
        "layer.",
    }
)


def formulas(part: Part, whole: Sequence[Part], trace: Trace) -> list[str]:
    """Return the formulas of the steps that a part computes, in LaTeX.

    A step that is just drawn has that of its row.
    """
    config = trace.config
    named = {step.name for each in whole for step in each.steps}
    rows = (
        {}
        if is_pretrained(trace)
        else {
            "token_embeddings": EMBEDDINGS[config.embedding].formula,
            "positions": POSITIONS[config.position].formula,
            "embedded": "X = E + P" if "positions" in named else "X = E",
            "w_q": INITIALISERS[config.initialiser].formula,
            "allowed": _all_allow(config.mask),
        }
    )
    rows["masked"] = _masked(trace)
    lines = []
    for step in part.steps:
        formula = _last(rows.get(step.name) or step.formula, named)
        if formula != step.symbol and not step.name.endswith("_kv"):
            lines.append(formula)
    return lines


def _all_allow(mask: tuple[str, ...]) -> str:
    """Return the conjunction of all the masks."""
    each = [MASKS[name].formula for name in mask]
    return each[0] if len(each) == 1 else r" \;\text{and}\; ".join(f"({formula})" for formula in each)


def _masked(trace: Trace) -> str:
    """Return the scores with what is added to them and what is forbidden, as far as there is either."""
    bias = " + B" if inputs.needs_bias(trace) else ""
    return rf"\hat S = S''{bias}" + (r",\; -\infty \text{ where forbidden}" if inputs.needs_mask(trace) else "")


def _last(formula: str, named: set[str]) -> str:
    """Return a formula in which a step that changes nothing, and so has no line, is called by the one before it."""
    for symbol, name, before in ((r"\hat S", "masked", "S''"), ("S''", "capped", "S'"), ("S'", "scaled", "S")):
        if name not in named:
            formula = re.sub(rf"{re.escape(symbol)}(?!')", before, formula)
    return formula
