"""ReLU over the number of keys, in the place of a softmax."""

from attnviz.settings.rows import LineRow

ROW = LineRow(
    kind="normaliser",
    name="relu_over_n",
    label="ReLU / n",
    line="relu(x) / n",
    note="The positive scores over the number of keys that take part: no exponential, and no competition.",
    source="Wortsman et al. 2023, arXiv:2309.08586",
    plain="relu / n",
)
