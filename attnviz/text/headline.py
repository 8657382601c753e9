"""The one line above the pictures: what is shown, and what the numbers are."""

from __future__ import annotations

from attnviz.engine.pretrained.read_text import read_text
from attnviz.engine.records.trace import Trace
from attnviz.settings.language import Plural, Words
from attnviz.text.provenance import origin

WORDS = Words(
    {
        "self": "{heads} of self-attention over {queries}{layers}.",
        "cross": "{heads} of cross-attention: {queries} attend to {keys}{layers}.",
        "decoder": "{heads} of a decoder{layers}. In odd layers {queries} attend to each other, the last columns; in "
        "even ones to {keys} of the encoder's text, the first columns.",
        "layers": ", {n} layers deep",
    }
)
COUNTS = Words({"head": Plural("{n} head", "{n} heads"), "token": Plural("{n} token", "{n} tokens")})


def headline(trace: Trace) -> tuple[str, str]:
    """Describe the run that is shown, and the origin of its numbers.

    >>> from attnviz import Config, run
    >>> headline(run(Config(sentence="a b c")))[0]
    '4 heads of self-attention over 3 tokens.'
    """
    config = trace.config
    read = read_text(config, 0, trace.query_tokens, trace.key_tokens)
    kind = "decoder" if read else "cross" if config.is_cross_attention else "self"
    shown = WORDS[kind].format(
        heads=COUNTS["head"].format(n=config.n_heads),
        queries=COUNTS["token"].format(n=len(trace.query_tokens)),
        keys=COUNTS["token"].format(n=read.start if read else len(trace.key_tokens)),
        layers=WORDS["layers"].format(n=config.n_layers) if config.n_layers > 1 else "",
    )
    return shown, origin(trace).sentence
