"""QK-norm: queries and keys through an RMS norm with a learned gain, before they meet."""

from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.scores import cosine

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
    lines=(
        *cosine.ROW.lines[:2],
        CellLine(
            "gained_query", "gained = q * u", "The query times its gain", "Each entry times the learned number u."
        ),
        CellLine("gained_key", "met = k * w", "The key times its gain", "Each entry times the learned number w."),
        CellLine("products", "products = gained * met", "The products", "Entry by entry, one times the other."),
        CellLine("sum", "total = sum(products)", "Added up", "The products added up."),
        CellLine(
            "score",
            "ratio(total * sqrt(d_k), left * right)",
            "The score",
            "The sum times the root of the width, over both lengths: only the directions and the gains count.",
            brief="{total} × √d_k ÷ ({left} × {right}), both lengths = {made}",
            zero="A vector of zeros has no direction; its cosine with anything counts as 0.",
        ),
    ),
)
