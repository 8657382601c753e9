"""Scaled cosine: each head learns how sharp its cosines are."""

from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.scores import cosine

ROW = LineRow(
    kind="score",
    name="scaled_cosine",
    label="Scaled cosine (Swin v2)",
    line="dot(unit(q), unit(k)) / max(tau, 0.01)",
    note="Only the directions count, over a temperature τ that each head learns; it is never below 0.01.",
    source="Liu et al. 2021, Swin Transformer V2, arXiv:2111.09883 (scaled cosine attention)",
    plain="q · k / (|q| |k| τ)",
    lines=(
        *cosine.ROW.lines[:4],
        CellLine(
            "least", "least = max(tau, 0.01)", "The temperature of the head", "The learned τ, but never below 0.01."
        ),
        CellLine(
            "score",
            "ratio(total, left * right * least)",
            "The score",
            "The dot product over both lengths and over τ: the cosine of the angle between query and key, sharpened.",
            brief="÷ ({left} × {right} × {least}), both lengths and τ = {made}",
            zero="A vector of zeros has no direction; its cosine with anything counts as 0.",
        ),
    ),
)
