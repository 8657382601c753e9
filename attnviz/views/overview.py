"""The one line above the pictures: what is shown, and what the numbers are."""

from __future__ import annotations

from attnviz.core.language import Words
from attnviz.core.trace import Trace
from attnviz.views.origins import origin

WORDS = Words(
    {
        "self": "{heads} of self-attention over {queries}{layers}.",
        "cross": "{heads} of cross-attention: {queries} look at {keys}{layers}.",
        "layers": ", {n} layers deep",
    }
)
COUNTS = Words({"head": ("1 head", "{n} heads"), "token": ("1 token", "{n} tokens")})


def overview(trace: Trace) -> tuple[str, str]:
    """What is shown, and what the numbers mean.

    >>> from attnviz import Config, run
    >>> overview(run(Config(sentence="a b c")))[0]
    '4 heads of self-attention over 3 tokens.'
    """
    config = trace.config
    shown = WORDS["cross" if config.is_cross_attention else "self"].format(
        heads=_count("head", config.n_heads),
        queries=_count("token", len(trace.query_tokens)),
        keys=_count("token", len(trace.key_tokens)),
        layers=WORDS["layers"].format(n=config.n_layers) if config.n_layers > 1 else "",
    )
    return shown, origin(trace).sentence


def _count(what: str, n: int) -> str:
    one, many = COUNTS[what]
    return one if n == 1 else many.format(n=n)
