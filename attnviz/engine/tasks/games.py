"""The tasks that a head can learn, each with a setting that learns it well."""

from __future__ import annotations

from attnviz.engine.tasks.coreference import COREFERENCE, draw_coreference, is_coreference, judge_coreference
from attnviz.engine.tasks.dates import DATES, draw_dates, is_date, judge_dates
from attnviz.engine.tasks.game import Game
from attnviz.engine.tasks.letters import LETTERS, draw_backwards, draw_induction, judge_backwards, judge_induction
from attnviz.engine.tasks.recall import COLOURS, PAIRS, PEOPLE, draw_recall, is_recall, judge_recall
from attnviz.engine.tasks.translation import TRANSLATION, draw_translation, is_english, judge_translation
from attnviz.settings.rows import table

ONE_HEAD = {"embedding": "normal", "n_heads": 1, "d_model": 64, "d_k": 32, "d_v": 64}
TWO_LAYERS = ONE_HEAD | {
    "n_layers": 2,
    "residual": True,
    "mask": "causal",
    "position": "rope",
    "rope_base": 100.0,
    "temperature": 3.0,
}
GAMES = table(
    Game(
        name="translation",
        label="Translation",
        fn=draw_translation,
        formula=r"\text{the black cat} \to \text{le chat noir}",
        note="Translate an English sentence into French, word by word. In these sentences the adjective "
        "follows its noun in French, so the head has to learn which word to attend to at each step. “Black cat” never "
        "occurs while it learns.",
        source="Bahdanau et al. 2014, arXiv:1409.0473, section 5.2.1 (the alignment of one sentence)",
        vocabulary=TRANSLATION,
        n_random=10,
        judge=judge_translation,
        fits=is_english,
        recipe=ONE_HEAD
        | {
            "sentence": "begin le chat noir voit un",
            "second_sentence": "the black cat sees a dog",
            "score": "additive",
            "d_a": 32,
            "position": "random",
            "learn_steps": 120,
        },
    ),
    Game(
        name="dates",
        label="Dates",
        fn=draw_dates,
        formula=r"\text{7 of mar 1994} \to \text{1994, mar, 7}",
        note="Find year, month and day in a date that may be written in three orders.",
        source="-",
        vocabulary=DATES,
        n_random=4,
        judge=judge_dates,
        fits=is_date,
        recipe=ONE_HEAD
        | {
            "sentence": "year month day",
            "second_sentence": "7 of mar 1994",
            "score": "additive",
            "d_a": 32,
            "learn_steps": 160,
        },
    ),
    Game(
        name="backwards",
        label="Backwards",
        fn=draw_backwards,
        formula=r"\text{a b c} \to \text{c b a}",
        note="Output eight letters in reverse order: every position has to attend to its mirror image.",
        source="-",
        vocabulary=LETTERS,
        n_random=8,
        judge=judge_backwards,
        recipe=ONE_HEAD | {"sentence": "b a d c a f e g", "position": "random", "temperature": 3.0, "learn_steps": 80},
    ),
    Game(
        name="recall",
        label="Who had which colour?",
        fn=draw_recall,
        formula=r"\text{tom red ann blue \ldots\ ann} \to \text{blue}",
        note="At the last name, predict the colour that followed it earlier. It takes two layers: the first tells "
        "every colour whose it is, the second finds the name.",
        source="-",
        vocabulary=(*PEOPLE, *COLOURS),
        n_random=len(PEOPLE) + PAIRS + 1,
        judge=judge_recall,
        fits=is_recall,
        recipe=TWO_LAYERS
        | {"sentence": "tom red ann blue joe gold eve pink ann", "learn_batch": 32, "learn_steps": 120},
    ),
    Game(
        name="induction",
        label="What came after it last time?",
        fn=draw_induction,
        formula=r"\text{a b c a b} \to \text{c}",
        note="A few letters keep coming back. At each letter, predict what followed it last time. This takes two "
        "layers: the first reads the previous letter, the second finds the position that has the same "
        "letter before it.",
        source="Olsson et al. 2022, arXiv:2209.11895 (induction heads)",
        vocabulary=LETTERS,
        n_random=len(LETTERS) + 1,
        judge=judge_induction,
        recipe=TWO_LAYERS | {"sentence": "b d a c e b d a c e b d", "learn_steps": 180},
    ),
    Game(
        name="coreference",
        label="What does “it” mean?",
        fn=draw_coreference,
        formula=r"\text{it was tired} \to \text{cat}",
        note="Say which noun “it” stands for: what is tired is an animal, what is wide is a thing. The answers become "
        "right, but the weights need not show why: a head can be right without being readable.",
        source="Winograd 1972, Understanding Natural Language (the kind of sentence)",
        vocabulary=COREFERENCE,
        n_random=6,
        judge=judge_coreference,
        fits=is_coreference,
        recipe=ONE_HEAD
        | {
            "sentence": "the cat passed the street because it was tired",
            "n_heads": 2,
            "d_k": 16,
            "d_v": 32,
            "n_layers": 2,
            "residual": True,
            "temperature": 3.0,
            "learn_steps": 80,
        },
    ),
)
