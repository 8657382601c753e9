"""`show`: attention in a notebook, as the interactive file in a frame; a Plotly figure of it where one is asked for."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from functools import cached_property
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

from attnviz.engine.external.traces import of_weights
from attnviz.engine.records.trace import Trace
from attnviz.exports.interactive_html import html
from attnviz.exports.interactive_part import that_fits
from attnviz.pictures.plotly_figure import heatmaps
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import translate

if TYPE_CHECKING:
    import plotly.graph_objects as go

UNPACKING = """<!DOCTYPE html><meta charset="utf-8"><script>
const packed = Uint8Array.from(atob("PACKED"), (each) => each.charCodeAt(0));
new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).text().then((page) => {
  document.open(); document.write(page); document.close();
});
</script>"""
"""What a frame holds: the interactive file, and the lines that unpack it; its own rules hold from there on."""


class Shown:
    """Attention that a notebook draws: cells, lines between the words, and all heads of all layers.

    trace   what is drawn, for every view and file;  `save` writes it as `Trace.save` does
    figure  the same as a Plotly figure. Every public name that a figure has is the figure's, as in `shown.data`; what
            is changed in the figure is shown by the figure, not here.
    """

    def __init__(self, trace: Trace, layers: Sequence[int] | None = None) -> None:
        self.trace = trace
        self._part = that_fits(trace, layers)

    @cached_property
    def figure(self) -> go.Figure:
        """The Plotly figure of it; raises ModuleNotFoundError without Plotly."""
        return heatmaps(self.trace)

    def save(self, path: str | PathLike[str], **target: Any) -> None:
        """Write the trace to a file; see `Trace.save`."""
        self.trace.save(path, **target)

    def _repr_html_(self) -> str:
        return _frame(html(self.trace, self._part))

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
    layers: Sequence[int] | None = None,
) -> Shown:
    """Return attention weights that you have, or a trace, as something that a notebook draws; NumPy is enough.

    weights  arrays, nested lists or tensors (queries, keys), (heads, queries, keys), (layers, heads, queries, keys); or
             the `attentions` of a model's output, a tuple with (batch, heads, queries, keys) a layer; or a Trace
    tokens   a token a query, and a key unless `key_tokens` are given;  `batch` chooses, where there are several. A
             trace has its own.
    layers   which to draw, counted from 0; all if left out, as far as 24 MB hold them

    Weights are drawn exactly up to 8 MB, and beyond with three digits; of a run that is larger than 24 MB the first
    layers are drawn with every step and of those behind them the weights, again with three digits. What is not drawn is
    said there, and is in `trace` and in a saved file.

    Raises ConfigError, a ValueError, for shapes that do not fit, for NaN and infinity, and for one layer that is larger
    than all that.

    >>> shown = show([[1.0, 0.0], [0.5, 0.5]], ["a", "b"])
    >>> shown.trace["weights"].array.tolist()
    [[[1.0, 0.0], [0.5, 0.5]]]
    >>> shown.figure.data[0].z.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    if not isinstance(weights, Trace):
        return Shown(of_weights(weights, tokens, key_tokens, batch=batch), layers)
    if any(given is not None for given in (tokens, key_tokens, batch)):
        raise ConfigError(translate("a trace has its own tokens and no batch; give it alone, or with layers"))
    return Shown(weights, layers)


def framed(trace: Trace) -> str:
    """Return what a notebook draws of a trace: as much of it as a frame may hold, or why it holds nothing."""
    try:
        return _frame(html(trace, that_fits(trace)))
    except ConfigError as error:
        return f"<p>{escape(str(error))}</p>"


def _frame(page: str) -> str:
    """Return the interactive file in a frame, packed, so that a notebook with fifty of them stays small.

    A notebook that is not trusted takes the frame away and leaves the sentence in it.
    """
    instead = translate(
        "Attention is drawn here once the notebook is trusted (File > Trust Notebook) or the cell has run again."
    )
    packed = base64.b64encode(zlib.compress(page.encode("utf-8"))).decode("ascii")
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{escape(UNPACKING.replace("PACKED", packed))}" title="attnviz" '
        f'style="width: 100%; height: 720px; border: 0">{escape(instead)}</iframe>'
    )
