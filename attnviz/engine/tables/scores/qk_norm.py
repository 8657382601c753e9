"""QK-norm: queries and keys through an RMS norm with a learned gain, before they meet."""

from attnviz.settings.rows import LineRow

ROW = LineRow(
    kind="score",
    name="qk_norm",
    label="QK-norm",
    line="left = sqrt(d_k) * unit(q) * u; right = sqrt(d_k) * unit(k) * w; dot(left, right) / sqrt(d_k)",
    note="Queries and keys are brought to one length first, and each entry has a learned gain, u for queries and w for "
    "keys: no score can grow without bound.",
    source="Gemma Team 2025, Gemma 3, arXiv:2503.19786 (RMS norm of queries and keys); "
    "Henry et al. 2020, arXiv:2010.04245 (with one learned factor instead)",
    plain="u q̂ · w k̂ / √d_k",
)
