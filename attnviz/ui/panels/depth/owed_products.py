"""A part of the sum that a next word's lead is, taken down to its products: of a head, a feed-forward block, a word."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from attnviz.analysis.circuits.attribution import Attribution, products, products_of_word
from attnviz.engine.records.trace import Trace
from attnviz.settings.counting import ordinal, ordinals
from attnviz.settings.language import Words
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components import formula, number_tables
from attnviz.ui.panels.depth.head_maps import WORDS as HEAD_MAPS
from attnviz.ui.panels.depth.head_maps import number
from attnviz.ui.panels.depth.next_word import shown_word
from attnviz.ui.panels.depth.owed_parts import name, part_name
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "title": "How {part} comes to {total}: {n} products",
        "head": "Each number of the head's output at the last word, times what 1 of it adds to the difference of "
        "“{word}” and “{other}”: its row of W_O, through the last norm N with its scale held, against their rows of "
        "the output matrix.",
        "block": "Each hidden unit of the block at the last word, times what 1 of it adds to the difference of "
        "“{word}” and “{other}”: its row of W_2, through the last norm N with its scale held, against their rows of "
        "the output matrix.",
        "word_title": "How layer {n} brings {total} from “{token}”: {count} heads",
        "word": "The weight that each head, at the last word, gives “{token}”, times what 1 of it adds to the "
        "difference of “{word}” and “{other}”: the value of “{token}” through W_O and the last norm N with its scale "
        "held, against the rows of these two words in the output matrix.",
        "weight": "weight",
        "sum": "The products add up to {sum}.",
        "sum_rest": "The products add up to {sum}, and biases to {rest}.",
        "dimension": "dimension",
        "number": "the number",
        "worth": "what 1 of it adds",
        "product": "product",
    }
)
OF_HEAD = r"\sum_d z_d \, \bigl( W_O \, N^\top (u_a - u_b) \bigr)_d"
OF_BLOCK = r"\sum_d f_d \, \bigl( W_2 \, N^\top (u_a - u_b) \bigr)_d"
OF_WORD = r"\sum_h A_{h,ij} \, \bigl( v_{h,j} \, W_O^{(h)} N^\top (u_a - u_b) \bigr)"
KEY, WORD_KEY = "owed-products", "owed-word"


def draw(trace: Trace, selection: Selection, words: tuple[int, int], found: Attribution, most: tuple[int, int]) -> None:
    """Draw the products of the head or the block that is opened; of the one that counts most where none is.

    most  layer and part of that one
    """
    layer, part = _opened(trace, selection, found) or most
    down = products(trace, *words, layer, part)
    word, other = (shown_word(trace, each) for each in words)
    facts = {"part": part_name(trace, layer, part), "total": number(down.total), "n": len(down.numbers)}
    is_head = part < trace.config.n_heads
    with st.expander(WORDS["title"].format(**facts), key=KEY):
        paragraph([WORDS["head" if is_head else "block"].format(word=word, other=other)])
        formula.show(OF_HEAD if is_head else OF_BLOCK, which="products")
        columns = {
            WORDS["dimension"]: [*ordinals(len(down.numbers))],
            WORDS["number"]: down.numbers,
            WORDS["worth"]: down.worth,
            WORDS["product"]: down.each,
        }
        number_tables.show(pd.DataFrame(columns), hide_index=True, key=f"{KEY}-table")
        said = WORDS["sum_rest" if not is_head and "b_2" in trace.layers[layer] else "sum"]
        paragraph([said.format(sum=number(down.each.sum()), rest=number(down.rest))])


def of_word(trace: Trace, words: tuple[int, int], at: tuple[int, int], *, is_open: bool) -> None:
    """Draw the products of what a layer brings from a word; `at` is the layer and the word, from 0."""
    layer, key = at
    down = products_of_word(trace, *words, layer, key)
    word, other = (shown_word(trace, each) for each in words)
    token = visible_token(trace.key_tokens[key])
    facts = {"n": ordinal(layer), "total": number(down.total), "token": token, "count": len(down.numbers)}
    with st.expander(WORDS["word_title"].format(**facts), expanded=is_open, key=WORD_KEY):
        paragraph([WORDS["word"].format(token=token, word=word, other=other)])
        formula.show(OF_WORD, which="products-of-word")
        columns = {
            HEAD_MAPS["head"]: [name(layer, head) for head in range(len(down.numbers))],
            WORDS["weight"]: down.numbers,
            WORDS["worth"]: down.worth,
            WORDS["product"]: down.each,
        }
        number_tables.show(pd.DataFrame(columns), hide_index=True, key=f"{WORD_KEY}-table")
        paragraph([WORDS["sum"].format(sum=number(down.each.sum()))])


def _opened(trace: Trace, selection: Selection, found: Attribution) -> tuple[int, int] | None:
    """Return the layer and the part above, counted from 0: a head, or the block where its output is shown."""
    if selection.focus is not None:
        return selection.layer, selection.focus
    if selection.shown == "ff_output" and found.has_blocks:
        return selection.layer, trace.config.n_heads
    return None
