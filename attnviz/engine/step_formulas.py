"""The formulas of the steps of attention that depend on the setting."""

from __future__ import annotations

from attnviz.engine.records import typed_rows
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Steps


def formulas_of(config: Config, layer: Steps) -> dict[str, str]:
    """Return the formulas that depend on the setting.

    The score before its scale, the normaliser, and who shares keys.
    """
    shared, g = config.group_size > 1, "g(h)" if config.group_size > 1 else "h"
    who = rf",\quad g(h) = \lceil h / {config.group_size} \rceil" if shared else ""
    row, score = typed_rows.normaliser_of(config), typed_rows.score_of(config)
    scores = rf"S_h = Q_h K_{{{g}}}^\top{who}"
    if not score.is_dot:
        scores = score.formula
        for name in () if score.typed else score.biases:
            scores = scores if f"score_{name}" in layer else scores.replace(f" + {name}", "")
    z = rf",\quad {row.letter} = \hat S" + ("" if config.temperature == 1.0 else f" / {config.temperature:g}")
    weights = row.formula
    if config.normalise_over == "queries":
        weights = rf"a_{{\cdot j}} = \text{{{row.name.replace('_', ' ')}}}({row.letter}_{{\cdot j}})"
    return {"scores": scores, "weights": weights + z, "heads": rf"Z_h = A_h V_{{{g}}}{who}"}
