"""The dot product over the root of the width: the score of the Transformer."""

from __future__ import annotations

from attnviz.engine.rows.line_row import LineRow
from attnviz.engine.tables.scores import dot

ROW = LineRow(
    kind="score",
    name="scaled_dot",
    label="Scaled dot product",
    line="sum(q * k) / sqrt(d_k)",
    note="The products of the entries, added up; divided by √d_k so that width alone does not sharpen the softmax.",
    source="Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1",
    plain="q · k",
    lines=dot.ROW.lines,
    fast=dot.dot,
    back=dot.back,
    by_hand=True,
    unscaled=dot.ROW.line,
)
