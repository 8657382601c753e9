"""The one line above the pictures: what is shown, and what the numbers are."""

from __future__ import annotations

from attnviz.engine.records.trace import Trace
from attnviz.settings.language import Plural, Words
from attnviz.text.provenance import origin

WORDS = Words(
    {
        "self": "{heads} of self-attention over {queries}{layers}.",
        "cross": "{heads} of cross-attention: {queries} attend to {keys}{layers}.",
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
    shown = WORDS["cross" if config.is_cross_attention else "self"].format(
        heads=COUNTS["head"].format(n=config.n_heads),
        queries=COUNTS["token"].format(n=len(trace.query_tokens)),
        keys=COUNTS["token"].format(n=len(trace.key_tokens)),
        layers=WORDS["layers"].format(n=config.n_layers) if config.n_layers > 1 else "",
    )
    return shown, origin(trace).sentence
