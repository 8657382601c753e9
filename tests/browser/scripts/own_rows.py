"""The page of a host who has added rows of their own, as `attnviz --with` does."""

from attnviz import SCORES, add_rows
from attnviz.engine.rows.line_row import LineRow
from attnviz.settings.rows import Knob
from attnviz.ui import main

SCORE = LineRow(
    kind="score",
    name="laplace",
    label="Laplacian kernel",
    line="apart = sum(abs(q - k)); -apart / width",
    note="Near keys count more, by the sum of the differences.",
    source="a test",
    knobs=(Knob("width", "Least width", 0.5, 0.1, 4.0),),
)
NORMALISER = LineRow(
    kind="normaliser",
    name="power",
    label="Powers over their sum",
    line="p = exp(x)**gamma; p / (sum(p) + 1)",
    note="Exponentials to a power, over their sum and 1.",
    source="a test",
    knobs=(Knob("gamma", "Power", 2.0, 1.0, 4.0),),
)
if "laplace" not in SCORES:  # the script runs anew at every move
    add_rows(SCORE, NORMALISER)
main.page()
