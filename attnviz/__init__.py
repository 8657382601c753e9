"""attnviz: attention, every step of it kept.

    from attnviz import Config, run

    trace = run(Config(sentence="the cat sat", n_heads=2, mask="causal"))
    trace["weights"].array        # (heads, queries, keys)

`attend` and `multi_head` are the same without the sentence: arrays in, every intermediate out. NumPy only.

    from attnviz import heatmaps, show

    show(weights, tokens)         # attention of your own, drawn in a notebook
    heatmaps(trace)               # a Plotly figure, which needs pip install "attnviz[plot]"
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnviz.analysis.circuits.attribution import Attribution, attribute
    from attnviz.analysis.circuits.behaviours import Behaviour, behaviours
    from attnviz.analysis.circuits.interventions import knock_out, patch
    from attnviz.analysis.corpus.comparison import Comparison, compare
    from attnviz.analysis.corpus.study import Study, study
    from attnviz.analysis.head_kinds import HeadKind, head_kinds
    from attnviz.analysis.statistics import STATISTICS, effective_keys, entropy, rollout
    from attnviz.analysis.twins import Twin, twin
    from attnviz.engine.attention import Attention, MultiHead, attend, multi_head
    from attnviz.engine.backward.gradients import Gradients, gradients
    from attnviz.engine.external.traces import of_scores, of_vectors, of_weights
    from attnviz.engine.learn import TASKS, learn
    from attnviz.engine.learning.film import Film
    from attnviz.engine.plan.plans import plan_of
    from attnviz.engine.records.config import Config
    from attnviz.engine.records.trace import Step, Trace
    from attnviz.engine.records.typed_rows import normaliser, score
    from attnviz.engine.rows.line_row import CellLine, LineRow
    from attnviz.engine.run import run
    from attnviz.engine.tables.added_rows import add_rows
    from attnviz.engine.tables.biases import BIASES, alibi_slopes, t5_buckets
    from attnviz.engine.tables.embeddings import EMBEDDINGS
    from attnviz.engine.tables.head_patterns import PATTERNS
    from attnviz.engine.tables.initialisers import INITIALISERS
    from attnviz.engine.tables.masks import MASKS
    from attnviz.engine.tables.normalisers import NORMALISERS
    from attnviz.engine.tables.positions import POSITIONS, rope, sinusoidal
    from attnviz.engine.tables.scores import SCORES
    from attnviz.engine.tables.tokenisers import TOKENISERS
    from attnviz.exports.display import show
    from attnviz.formula.faults import FormulaError
    from attnviz.models.in_memory import of_model
    from attnviz.models.model import Model, load
    from attnviz.pictures.plotly_figure import heatmaps
    from attnviz.pictures.static.svg_image import over_image
    from attnviz.settings.faults import ConfigError
    from attnviz.settings.rows import Knob

__version__ = "0.2.0"

__all__ = [
    "BIASES",
    "EMBEDDINGS",
    "INITIALISERS",
    "MASKS",
    "NORMALISERS",
    "PATTERNS",
    "POSITIONS",
    "SCORES",
    "STATISTICS",
    "TASKS",
    "TOKENISERS",
    "Attention",
    "Attribution",
    "Behaviour",
    "CellLine",
    "Comparison",
    "Config",
    "ConfigError",
    "Film",
    "FormulaError",
    "Gradients",
    "HeadKind",
    "Knob",
    "LineRow",
    "Model",
    "MultiHead",
    "Step",
    "Study",
    "Trace",
    "Twin",
    "add_rows",
    "alibi_slopes",
    "attend",
    "attribute",
    "behaviours",
    "compare",
    "effective_keys",
    "entropy",
    "gradients",
    "head_kinds",
    "heatmaps",
    "knock_out",
    "learn",
    "load",
    "multi_head",
    "normaliser",
    "of_model",
    "of_scores",
    "of_vectors",
    "of_weights",
    "over_image",
    "patch",
    "plan_of",
    "rollout",
    "rope",
    "run",
    "score",
    "show",
    "sinusoidal",
    "study",
    "t5_buckets",
    "twin",
]

_HOMES = {
    "analysis.circuits.attribution": "Attribution attribute",
    "analysis.circuits.behaviours": "Behaviour behaviours",
    "analysis.circuits.interventions": "knock_out patch",
    "analysis.corpus.comparison": "Comparison compare",
    "analysis.corpus.study": "Study study",
    "analysis.head_kinds": "HeadKind head_kinds",
    "analysis.statistics": "STATISTICS effective_keys entropy rollout",
    "analysis.twins": "Twin twin",
    "engine.attention": "Attention MultiHead attend multi_head",
    "engine.tables.biases": "BIASES alibi_slopes t5_buckets",
    "engine.records.config": "Config",
    "engine.plan.plans": "plan_of",
    "engine.tables.embeddings": "EMBEDDINGS",
    "settings.fields": "ConfigError",
    "engine.external.traces": "of_scores of_vectors of_weights",
    "engine.tables.added_rows": "add_rows",
    "engine.backward.gradients": "Gradients gradients",
    "engine.learning.film": "Film",
    "engine.learn": "TASKS learn",
    "engine.run": "run",
    "engine.tables.masks": "MASKS",
    "engine.tables.normalisers": "NORMALISERS",
    "engine.tables.head_patterns": "PATTERNS",
    "engine.tables.positions": "POSITIONS rope sinusoidal",
    "engine.tables.initialisers": "INITIALISERS",
    "engine.tables.scores": "SCORES",
    "engine.tables.tokenisers": "TOKENISERS",
    "engine.records.trace": "Step Trace",
    "engine.records.typed_rows": "normaliser score",
    "formula.faults": "FormulaError",
    "models.in_memory": "of_model",
    "models.model": "Model load",
    "pictures.plotly_figure": "heatmaps",
    "pictures.static.svg_image": "over_image",
    "exports.display": "show",
    "engine.rows.line_row": "CellLine LineRow",
    "settings.rows": "Knob",
}
"""The modules that define these names: each is imported when one of its names is first used."""


if not TYPE_CHECKING:  # a checker that saw this function would take every misspelt name

    def __getattr__(name: str) -> object:
        """Load the module that defines a name, so that importing the package costs no more than NumPy."""
        from importlib import import_module

        for home, names in _HOMES.items():
            if name in names.split():
                globals()[name] = getattr(import_module(f"attnviz.{home}"), name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _hand_down() -> None:
    """Tell a trace what writes and draws it, so that no module imports one that stands above it."""
    from importlib import import_module

    from attnviz import outlets

    outlets.provide("save", lambda: import_module("attnviz.exports.formats").save_part)
    outlets.provide("framed", lambda: import_module("attnviz.exports.display").framed)
    outlets.provide("figure", lambda: import_module("attnviz.pictures.plotly_figure").of_step)
    outlets.provide("measure", lambda: import_module("attnviz.pictures.plotly_figure").of_measure)
    outlets.provide("to_pandas", lambda: import_module("attnviz.exports.frames").to_pandas)
    outlets.provide("to_xarray", lambda: import_module("attnviz.exports.frames").to_xarray)


_hand_down()


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
