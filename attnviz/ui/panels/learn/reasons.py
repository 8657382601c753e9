"""The computed reason for which a try fell short, in a sentence, and the two pictures that prove it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from attnviz.analysis.why_unlearned import Reason, reason
from attnviz.engine.learn import learn
from attnviz.engine.records.config import Config
from attnviz.pictures import stages
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import Words
from attnviz.text.captions import NAMES
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import localised, short
from attnviz.text.format.sentence_parts import within_sentence
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.view import SCROLLED
from attnviz.ui.panels.learn import ablations
from attnviz.ui.session.notices import paragraph

WHY = Words(
    {
        "hardmax": "{label}: a hardmax gives 1 to the largest score and 0 to the others, so a small change of a score "
        "changes nothing. Its slope is 0, and W_Q and W_K did not move at all while W_V moved by up to {moved}: the "
        "weights of the first layer at the end are those of the start.",
        "position": "{label}: the score of two words is the same wherever they stand. Here all words are read in "
        "reverse order, and the same scores stand in reverse order. Nothing in a score says what comes where.",
        "location": "{label}: the score does not read the words. Here the first word is another one, and the scores "
        "that other words give are the same. It can learn a position to attend to, but cannot look for a word.",
        "layers": "{label}: in the first layer a key is made of its own word alone. Here the first word is another "
        "one, and the key of the second is the same. In the last layer of the setting it changes by up to {moved}, "
        "as the layer before has brought it what stands there.",
        "mask": "{label}: {share} of the weight lies on words that come later. The head may read the answer there, "
        "and need not learn to find it before.",
    }
)
TITLES = Words(
    {
        "hardmax before": "at the start",
        "hardmax after": "at the end",
        "position before": "as they stand",
        "position after": "in reverse order",
        "location before": "as they stand",
        "location after": "with another first word",
        "layers before": "as they stand",
        "layers after": "with another first word",
        "mask before": "with the mask",
        "mask after": "without it",
    }
)


def draw(config: Config, others: Mapping[str, Config]) -> None:
    """Draw the reason of each try that fell short of its task, where one can be computed."""
    for name, label in ablations.CHIPS.items():
        without = others.get(label)
        if without is None or learn(without).right[-1] >= ablations.RIGHT:
            continue
        whole = replace(config, learn_steps=without.learn_steps)
        why = reason(name, whole, without)
        if why is None:
            continue
        paragraph([sentence(why, label)])
        heatmap.show(pictures(why), key=f"why-{name}", view=SCROLLED)


def sentence(why: Reason, label: str) -> str:
    """Return a reason in words."""
    numbers = {"moved": short(why.numbers.get("moved", 0.0)), "share": percent(why.numbers.get("share", 0.0))}
    return localised(WHY[why.name].format(label=label, **numbers))


def pictures(why: Reason) -> list[Stage]:
    """Return the two pictures of a reason."""
    drawn = []
    for which, trace in (("before", why.before), ("after", why.after)):
        title = TITLES[f"{why.name} {which}"]
        step = trace.layers[why.layer][why.step]
        drawn.append(replace(stages.stage(trace, step, title, within_sentence(NAMES[step.name])), name=which))
    return drawn
