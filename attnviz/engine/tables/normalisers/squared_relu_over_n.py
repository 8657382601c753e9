"""Squared ReLU over the number of keys, in the place of a softmax."""

from attnviz.engine.rows.line_row import CellLine, LineRow

ROW = LineRow(
    kind="normaliser",
    name="squared_relu_over_n",
    label="ReLU² / n",
    line="relu(x)**2 / n",
    note="The squares of the positive scores over the number of keys that take part: sharper than ReLU / n.",
    source="Hua et al. 2022, arXiv:2202.10447 (squared ReLU attention); "
    "Wortsman et al. 2023, arXiv:2309.08586 (over n)",
    plain="relu² / n",
    lines=(
        CellLine("positive", "p = relu(s / T)", "The positive parts", "Scores below 0 count as 0.", symbol="p_{@}"),
        CellLine(
            "weight",
            "p**2 / n",
            "The weight",
            "The square of this positive part over the number of keys that take part.",
            brief="{p}² over the number of keys; below 0 counts as 0",
        ),
    ),
)
