"""Softmax with a sink: one more key in the denominator, whose value is nothing."""

from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.engine.tables.normalisers import softmax
from attnviz.settings.rows import Knob

ROW = LineRow(
    kind="normaliser",
    name="softmax_with_sink",
    label="Softmax with a sink",
    line="m = max(max(x), sink); e = exp(x - m); e / (exp(sink - m) + sum(e))",
    note="Each head has a score of its own, the sink, that takes its share and gives nothing: a head that finds "
    "nothing can attend to nothing. A sink of 0 is the quiet softmax.",
    source="OpenAI 2025, gpt-oss model card, arXiv:2508.10925 (a learned bias in the denominator); "
    "Xiao et al. 2023, arXiv:2309.17453 (sinks that arise without it)",
    plain="softmax with sink",
    knobs=(Knob("sink", "Sink, once or for each head", 0.0, -20.0, 20.0, heads=True),),
    lines=(
        CellLine(
            "largest",
            "m = max(max(x), sink)",
            "The largest of the {line} and of the sink",
            "It will be subtracted from all: no weight changes, and the numbers stay small.",
            symbol="m",
        ),
        CellLine("below", "below = x - m", "Below the largest", "Each score of the {line} minus it.", symbol="u_{@}"),
        softmax.ROW.lines[2],
        CellLine(
            "one", "one = exp(sink - m)", "The sink", "Its exponential, after the same subtraction.", symbol="e^{u_0}"
        ),
        CellLine("sum", "total = sum(e) + one", "Their sum", "The exponentials of the whole {line} and of the sink."),
        CellLine(
            "weight",
            "e / total",
            "The weight",
            "This exponential divided by the sum.",
            brief="{e} of {total} in the {line}, with the sink",
        ),
    ),
)
