"""Squared ReLU over the number of keys, in the place of a softmax."""

from attnviz.settings.rows import LineRow

ROW = LineRow(
    kind="normaliser",
    name="squared_relu_over_n",
    label="ReLU² / n",
    line="relu(x)**2 / n",
    note="The squares of the positive scores over the number of keys that take part: sharper than ReLU / n.",
    source="Hua et al. 2022, arXiv:2202.10447 (squared ReLU attention); "
    "Wortsman et al. 2023, arXiv:2309.08586 (over n)",
    plain="relu² / n",
)
