"""Scaled cosine: each head learns how sharp its cosines are."""

from attnviz.settings.rows import LineRow

ROW = LineRow(
    kind="score",
    name="scaled_cosine",
    label="Scaled cosine (Swin v2)",
    line="dot(unit(q), unit(k)) / max(tau, 0.01)",
    note="Only the directions count, over a temperature τ that each head learns; it is never below 0.01.",
    source="Liu et al. 2021, Swin Transformer V2, arXiv:2111.09883 (scaled cosine attention)",
    plain="q · k / (|q| |k| τ)",
)
