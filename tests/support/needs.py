"""The need of everything that is computed, under the names that tests call it by: a page, a panel of one, a file."""

from __future__ import annotations

from attnviz.classroom.marking import moodle
from attnviz.classroom.printed import handout
from attnviz.exports.formats import FORMATS
from attnviz.ui.pages.experiments import EXPERIMENTS
from attnviz.ui.pages.panels import PANELS
from attnviz.ui.pages.registry import PAGES
from attnviz.ui.panels import experiment_panels
from attnviz.ui.panels.depth import head_roles

ON_PAGES = {
    **{name: page.need for name, page in PAGES.items()},
    **{f"explore/{name}": panel.need for name, panel in PANELS.items()},
    **{f"experiments/{name}": experiment.need for name, experiment in EXPERIMENTS.items()},
    "experiments/scale/setting": experiment_panels.SCALE_OF_SETTING,
}
OF_FILES = {f"file/{name}": form.need for name, form in FORMATS.items()}
OF_FILES |= {"file/handout": handout.NEED, "file/moodle": moodle.NEED}
BESIDE = {"heads on prompts": head_roles.NEED}
NEEDS = {**ON_PAGES, **OF_FILES, **BESIDE}
