"""attnviz: attention, every step of it kept.

    from attnviz import Config, run

    trace = run(Config(sentence="the cat sat", n_heads=2, mask="causal"))
    trace["weights"].array        # (heads, queries, keys)

`attend` and `multi_head` are the same without the sentence: arrays in, every intermediate out. NumPy only.

    from attnviz import heatmaps, show

    show(weights, tokens)         # attention that you have, as a Plotly figure
    heatmaps(trace)

These two need Plotly, which is loaded when one of them is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from attnviz.core.attention import Attention, MultiHead, attend, multi_head
from attnviz.core.biases import BIASES, alibi_slopes, t5_buckets
from attnviz.core.config import Config
from attnviz.core.embeddings import EMBEDDINGS
from attnviz.core.fields import ConfigError
from attnviz.core.given import of_scores, of_vectors, of_weights
from attnviz.core.layers import run
from attnviz.core.masks import MASKS
from attnviz.core.normalisers import NORMALISERS
from attnviz.core.patterns import PATTERNS
from attnviz.core.positions import POSITIONS, rope, sinusoidal
from attnviz.core.projections import INITIALISERS
from attnviz.core.scores import SCORES
from attnviz.core.tokens import TOKENISERS
from attnviz.core.trace import Step, Trace

if TYPE_CHECKING:
    from attnviz.views.heatmaps import heatmaps as heatmaps
    from attnviz.views.heatmaps import show as show

__version__ = "0.1.0"

__all__ = [
    "BIASES",
    "EMBEDDINGS",
    "INITIALISERS",
    "MASKS",
    "NORMALISERS",
    "PATTERNS",
    "POSITIONS",
    "SCORES",
    "TOKENISERS",
    "Attention",
    "Config",
    "ConfigError",
    "MultiHead",
    "Step",
    "Trace",
    "alibi_slopes",
    "attend",
    "multi_head",
    "of_scores",
    "of_vectors",
    "of_weights",
    "rope",
    "run",
    "sinusoidal",
    "t5_buckets",
]


def __getattr__(name: str) -> Any:
    """What needs more than NumPy, loaded when it is asked for."""
    if name not in ("heatmaps", "show"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("attnviz.views.heatmaps"), name)
