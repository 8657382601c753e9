"""The bilinear score, squeezed by tanh."""

from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.scores import general

ROW = LineRow(
    kind="score",
    name="multiplicative_tanh",
    label="Multiplicative tanh",
    line="tanh(q @ W @ k)",
    note="The bilinear score squeezed to lie between -1 and 1, so that no key can be far ahead of the others.",
    source="Ma et al. 2017, Interactive Attention Networks, arXiv:1709.00893 (there with a bias)",
    plain="tanh(q W kᵀ)",
    lines=(
        *general.ROW.lines[:2],
        CellLine("sum", "total = sum(products)", "Added up", "The products added up."),
        CellLine("score", "tanh(total)", "The score", "Squeezed between −1 and 1.", brief="tanh({total}) = {made}"),
    ),
)
