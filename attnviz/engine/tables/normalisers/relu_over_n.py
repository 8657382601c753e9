"""ReLU over the number of keys, in the place of a softmax."""

from attnviz.engine.rows.line_row import CellLine, LineRow

ROW = LineRow(
    kind="normaliser",
    name="relu_over_n",
    label="ReLU / n",
    line="relu(x) / n",
    note="The positive scores over the number of keys that take part: no exponential, and no competition.",
    source="Wortsman et al. 2023, arXiv:2309.08586",
    plain="relu / n",
    lines=(
        CellLine("positive", "p = relu(s / T)", "The positive parts", "Scores below 0 count as 0.", symbol="p_{@}"),
        CellLine(
            "weight",
            "p / n",
            "The weight",
            "This positive part over the number of keys that take part.",
            brief="{p} over the number of keys; below 0 counts as 0",
        ),
    ),
)
