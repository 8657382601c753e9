"""Components of the page in a browser: the pictures, the pickers, the sentence, and small ones.

All of them are imported together, as their scripts are sent together.
"""

from attnviz.ui.components import mask_painter, paste_guard, svg_to_png
from attnviz.ui.components.pickers import film_strip, head_cards, head_mosaic, overview, step_path, step_strip
from attnviz.ui.components.sentence import attention_lines, opening_sentence
from attnviz.ui.components.stage import drawer, heatmap

__all__ = [
    "attention_lines",
    "drawer",
    "film_strip",
    "head_cards",
    "head_mosaic",
    "heatmap",
    "mask_painter",
    "opening_sentence",
    "overview",
    "paste_guard",
    "step_path",
    "step_strip",
    "svg_to_png",
]
