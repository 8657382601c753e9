"""The tasks that a setting can learn, each with the settings in which it is learned well."""

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
        "translation",
        "Translation",
        draw_translation,
        r"\text{the black cat} \to \text{le chat noir}",
        "Say an English sentence in French, word by word. In French the adjective comes after its noun, so the head "
        "has to learn which word to read when. “Black cat” is never shown while it learns.",
        "Bahdanau et al. 2014, arXiv:1409.0473, section 5.2.1 (the alignment of one sentence)",
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
        "dates",
        "Dates",
        draw_dates,
        r"\text{7 of mar 1994} \to \text{1994, mar, 7}",
        "Find year, month and day in a date that may be written in three orders.",
        "-",
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
        "backwards",
        "Backwards",
        draw_backwards,
        r"\text{a b c} \to \text{c b a}",
        "Say eight letters in the opposite order: every position has to attend to its mirror image.",
        "-",
        vocabulary=LETTERS,
        n_random=8,
        judge=judge_backwards,
        recipe=ONE_HEAD | {"sentence": "b a d c a f e g", "position": "random", "temperature": 3.0, "learn_steps": 80},
    ),
    Game(
        "recall",
        "Who had which colour?",
        draw_recall,
        r"\text{tom red ann blue \ldots\ ann} \to \text{blue}",
        "At the last name, say the colour that came after it before. It takes two layers: the first tells every colour "
        "whose it is, the second finds the name.",
        "-",
        vocabulary=(*PEOPLE, *COLOURS),
        n_random=len(PEOPLE) + PAIRS + 1,
        judge=judge_recall,
        fits=is_recall,
        recipe=TWO_LAYERS
        | {"sentence": "tom red ann blue joe gold eve pink ann", "learn_batch": 32, "learn_steps": 120},
    ),
    Game(
        "induction",
        "What came after it last time?",
        draw_induction,
        r"\text{a b c a b} \to \text{c}",
        "A few letters come again and again. At each letter, say what followed it before. It takes two layers: the "
        "first reads the previous letter, the second finds the place that has the same one before it.",
        "Olsson et al. 2022, arXiv:2209.11895 (induction heads)",
        vocabulary=LETTERS,
        n_random=len(LETTERS) + 1,
        judge=judge_induction,
        recipe=TWO_LAYERS | {"sentence": "b d a c e b d a c e b d", "learn_steps": 180},
    ),
    Game(
        "coreference",
        "What does “it” mean?",
        draw_coreference,
        r"\text{it was tired} \to \text{cat}",
        "Say which noun “it” stands for: what is tired is an animal, what is wide is a thing. The answers come out "
        "right, and the weights need not show why: being right and being readable are two things.",
        "Winograd 1972, Understanding Natural Language (the kind of sentence)",
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
