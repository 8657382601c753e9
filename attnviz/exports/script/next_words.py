"""The next words of a trained model at the end of a script: the logits, their shares, and the likeliest words."""

from __future__ import annotations

from attnviz.codegen.words import Words
from attnviz.engine.pretrained.model_registry import model_of
from attnviz.engine.records.trace import Trace
from attnviz.exports.script.comments import COMMENT, wrapped
from attnviz.exports.script.lines import Lines, listed
from attnviz.exports.script.model_parameters import MOST, are_in_script, opened, stored
from attnviz.models.writer import Writer
from attnviz.settings import language
from attnviz.text.format.number_format import grouped

SHOWN = 10
"""The likeliest words that a script prints."""

MATRIX = language.Words(
    {
        "tied": "It is the table of tokens once more: the two are tied.",
        "own": "It is a matrix of its own, beside the table of tokens.",
        "left_out": "The output matrix has {n} numbers, more than stand in a script, and the model has no folder to "
        "read it from: {state}[-1] @ U.T, with U that matrix, would be the logits.",
    }
)


def model_that_writes_on(trace: Trace) -> Writer | None:
    """Return the model of a run, where that has next words; None for an encoder, and for a run of none."""
    model = trace.model
    return model if isinstance(model, Writer) and model.writes_on else None


def about_matrix(trace: Trace) -> str:
    """Return a sentence on where the output matrix comes from; empty for what has none."""
    model = model_that_writes_on(trace)
    return "" if model is None else MATRIX["tied" if model.is_tied else "own"]


def write_next_words(lines: Lines, trace: Trace, state: str) -> None:
    """Write what comes behind the layers of a model that writes on; nothing for others.

    state  the variable of what words are read off: a row a token, behind the last norm
    """
    model = model_that_writes_on(trace)
    if model is None:
        return
    table, words = model.words_table, lines.words
    if table.size <= MOST:
        pieces = [model.piece(n) for n in range(len(table))]
        lines.write(f"U = {stored(table, words)}  # {table.shape}: word, model")
        vocabulary = f"vocabulary = {listed([repr(piece) for piece in pieces])}"
    elif model.folder is not None:
        lines.write(*(opened(trace, model_of(trace)) if are_in_script(model_of(trace)) else ()))
        lines.write(f"U = {words.array}(model.words_table.astype(float))  # {table.shape}: word, model")
        vocabulary = "vocabulary = [model.piece(n) for n in range(len(U))]"
    else:
        text = MATRIX["left_out"].format(n=grouped(table.size), state=state)
        lines.write(*(f"# {line}" for line in wrapped(text, COMMENT)))
        lines.end("next_words")
        return
    lines.end("unembedding")
    lines.write(vocabulary, *(f"vocabulary[{n}] = {word!r}  # stands in this spare word" for n, word in
                              model.lent(trace).items()))  # fmt: skip
    lines.end("vocabulary")
    lines.write(*_logits(words, state, model))
    lines.end("next_words")


def _logits(words: Words, state: str, model: Writer) -> list[str]:
    """Return the lines from the last row to the likeliest words."""
    cap, factor, bias = model.shape.logits_softcap, model.shape.logits_factor, model.logits_bias
    np, likely = words.np, f"{words.np}.argsort(-shares, {words.stable})[:{SHOWN}]"
    softmax = words.softmax.format("logits", axis=-1)
    return [
        f"logits = {'' if factor == 1.0 else f'{factor!r} * '}{state}[-1] @ U.T  # of each word, behind the last token",
        *([f"logits = logits + {stored(bias, words)}"] if bias is not None else []),
        *([f"logits = {cap!r} * {np}.tanh(logits / {cap!r})  # the model squeezes them"] if cap else []),
        *([f"shares = {softmax}"] if softmax else [f"shares = {np}.exp(logits - logits.max())",
                                                  "shares = shares / shares.sum()"]),
        f"for n in {likely}.tolist():",
        '    print(f"{vocabulary[n]} {shares[n]:.4f}")',
    ]  # fmt: skip
