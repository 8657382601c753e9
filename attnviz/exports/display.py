"""`show`: attention in a notebook, as the interactive file in a frame; a Plotly figure of it where one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from attnviz.engine.external.traces import of_weights
from attnviz.engine.records.trace import Trace
from attnviz.pictures.plotly_figure import heatmaps

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Shown:
    """Attention that a notebook draws: cells, lines between the words, and all heads of all layers.

    trace   what is drawn, for every view and file;  `save` writes it as `Trace.save` does
    figure  the same as a Plotly figure. Every public name that a figure has is the figure's, as in `shown.data`; what
            is changed in the figure is shown by the figure, not here.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def figure(self) -> go.Figure:
        """The Plotly figure of it; raises ModuleNotFoundError without Plotly."""
        return heatmaps(self.trace)

    def save(self, path: str | PathLike[str], **target: Any) -> None:
        """Write the trace to a file; see `Trace.save`."""
        self.trace.save(path, **target)

    def _repr_html_(self) -> str:
        return self.trace._repr_html_()

    def __repr__(self) -> str:
        return f"<Shown: {self.trace!r}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a notebook asks for many names that begin so, and is to draw this, not the figure
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        try:
            return getattr(self.figure, name)
        except ModuleNotFoundError as error:
            raise AttributeError(f"{name}: {error}") from None


def show(
    weights: Any,
    tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    batch: int | None = None,
) -> Shown:
    """Return attention weights that you have, or a trace, as something that a notebook draws; NumPy is enough.

    weights  arrays, nested lists or tensors (queries, keys), (heads, queries, keys), (layers, heads, queries, keys); or
             the `attentions` of a model's output, a tuple with (batch, heads, queries, keys) a layer; or a Trace
    tokens   a token a query, and a key unless `key_tokens` are given;  `batch` chooses, where there are several. A
             trace has its own.

    Raises ConfigError, a ValueError, for shapes that do not fit, and for NaN and infinity.

    >>> shown = show([[1.0, 0.0], [0.5, 0.5]], ["a", "b"])
    >>> shown.trace["weights"].array.tolist()
    [[[1.0, 0.0], [0.5, 0.5]]]
    >>> shown.figure.data[0].z.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    is_trace = isinstance(weights, Trace)
    return Shown(weights if is_trace else of_weights(weights, tokens, key_tokens, batch=batch))
