"""Three short lessons on what is often mixed up about masks: the number in them, their meaning, their side."""

from __future__ import annotations

from attnviz.core.lesson import Lesson, Question, Slide

PAPER = "Vaswani et al. 2017, arXiv:1706.03762"
PYTORCH = "PyTorch 2.13 documentation"

LATER = tuple((i, j) for i in range(4) for j in range(i + 1, 4))
"""The cells of four queries and keys where the key stands after the query."""

WHY_MINUS_INFINITY = Lesson(
    "why_minus_infinity",
    "Why −∞ before the softmax, and not 0?",
    "A score of 0 is a score like any other; only −∞ takes a key out of the sum.",
    {
        "sentence": "a b c d",
        "embedding": "own",
        "own_numbers": "1 0; 0 1; 1 1; -1 1",
        "position": "none",
        "d_model": 2,
        "n_heads": 1,
        "d_k": 2,
        "d_v": 2,
        "initialiser": "identity",
        "output_projection": False,
        "scale": 1.0,
        "mask": "causal",
    },
    (
        Slide(
            "A causal mask: a word may not look at later ones. Their scores become $-\\infty$, and $e^{-\\infty} = "
            "0$: they are out of the sum, and the row shares its 1 among what is left. The numbers are small on "
            "purpose, $S = XX^\\top$.",
            ("scores", "masked", "weights"),
            question=Question("weight", at={"head": 1, "query": 1, "key": 1}, why="It is the only key left."),
        ),
        Slide(
            "Scores times the mask puts **0** there instead. But $e^0 = 1$: each forbidden key takes part as much as "
            "any key with a score of 0, and more than an allowed one with a negative score.",
            ("masked", "weights"),
            {"mask": "none", "edits": tuple((0, "masked", (0, *cell), 0.0) for cell in LATER)},
            beside=True,
            question=Question(
                "weight",
                "The first word's score for itself is 1; its three forbidden scores are set to 0. How much weight "
                "does it keep?",
                {"head": 1, "query": 1, "key": 1},
                "e / (e + 3): more than half leaks to words that come later.",
            ),
        ),
        Slide(
            "What about **0 after** the softmax? Nothing is read from later words, but what they had taken is gone: "
            "every row but the last adds to less than 1. And the sum under each fraction still holds the exponentials "
            "of the forbidden scores. Each row over its sum repairs that, and is then the masked softmax, by a longer "
            "way.",
            ("weights", "heads"),
            {"mask": "none", "edits": tuple((0, "weights", (0, *cell), 0.0) for cell in LATER)},
            beside=True,
            question=Question(
                "sum",
                "Without a mask, and with later weights set to 0 after the softmax: what does the first row add to?",
                {"head": 1, "query": 1},
            ),
        ),
        Slide(
            "A large negative number such as $-10^9$ is as good while the row has an allowed key far above it: "
            "$e^{-10^9}$ is 0 in floating point, and all weights are the same.",
            ("masked", "weights"),
            {"mask": "none", "edits": tuple((0, "masked", (0, *cell), -1e9) for cell in LATER)},
            question=Question(
                "rows_changed",
                "−1,000,000,000 in place of −∞. Which rows of the weights differ?",
                {"step": "weights"},
                "None: both leave exactly 0.",
            ),
        ),
        Slide(
            "The difference shows in a row with **nothing** allowed. Here no word may look at itself or ahead, so the "
            "first has nobody. With $-10^9$ in place of every score all are equal and the row becomes uniform, "
            "silently; with $-\\infty$ softmax is $0/0$, NaN unless a program takes care. Here such a row is zeros, "
            "and the page says so.",
            ("masked", "weights", "heads"),
            {"mask": ("causal", "no_self")},
            question=Question("sum", at={"head": 1, "query": 1}, why="Nothing may be read, so nothing is."),
        ),
    ),
    f"{PAPER}, section 3.2.3 (illegal connections set to −∞); Keras, layers/activations/softmax.py (−1e9)",
)

MASK_POLARITY = Lesson(
    "mask_polarity",
    "Does True in a mask mean “look” or “do not look”?",
    "Libraries disagree and no error tells; one replaced word does.",
    {"sentence": "the cat sat down", "d_model": 8, "n_heads": 1, "d_k": 3, "d_v": 2, "mask": "causal"},
    (
        Slide(
            "Here the array is called **allowed**, and True (1) means *may look*. A causal mask is then full on and "
            "below the diagonal: row $i$ holds $i$ ones.",
            ("allowed", "masked", "weights"),
            question=Question(
                "number",
                "May the second word look at the third under a causal mask? (1: yes, 0: no)",
                {"step": "allowed", "query": 2, "key": 3},
            ),
        ),
        Slide(
            "The same array handed to a program that takes True as *may **not** look*: every word sees only later "
            "ones, and the last sees nothing. Shapes fit and no error is raised; elsewhere the last row may be NaN or "
            "uniform.",
            ("allowed", "weights"),
            {"mask": "custom", "custom_cells": "1: 2-4, 2: 3-4, 3: 4"},
            beside=True,
            question=Question("sum", at={"head": 1, "query": 4}, why="The last word has nothing after it to look at."),
        ),
        Slide(
            "In PyTorch both readings stand side by side. `scaled_dot_product_attention`: True *takes part*. "
            "`nn.MultiheadAttention`, `attn_mask`: True *is not allowed*; its `key_padding_mask`: True *is ignored*. "
            "A mask of numbers, 0 and $-\\infty$, is added to the scores in both, and cannot be misread.",
            ("allowed", "masked"),
        ),
        Slide(
            "So test what it **does**. Replace the last word and look which rows of the output change: under a causal "
            "mask the last alone.",
            ("weights", "output"),
            question=Question(
                "rows_changed",
                "The causal mask as it should be. The last word is replaced: which rows of the output change?",
                {"step": "output", "change": {"sentence": "the cat sat up"}},
            ),
        ),
        Slide(
            "Under the mask turned over, the last word is the one that every other may see, so every other row "
            "changes, and the last does not.",
            ("weights", "output"),
            {"mask": "custom", "custom_cells": "1: 2-4, 2: 3-4, 3: 4"},
            question=Question(
                "rows_changed",
                "The mask turned over. The last word is replaced: which rows of the output change?",
                {"step": "output", "change": {"sentence": "the cat sat up"}},
                "The last row reads nothing, so it stays at zero.",
            ),
        ),
    ),
    f"{PYTORCH}, scaled_dot_product_attention (attn_mask) and nn.MultiheadAttention (attn_mask, key_padding_mask)",
)

PADDING = Lesson(
    "padding",
    "Which side does a padding mask close: rows, columns or both?",
    "The columns: nobody may read padding. What padding itself reads does not matter.",
    {
        "sentence": "cats purr",
        "pad_to": 5,
        "d_model": 8,
        "n_heads": 1,
        "d_k": 2,
        "d_v": 3,
        "initialiser": "by_hand",
        "patterns": ("uniform",),
        "output_projection": False,
        "mask": "padding",
    },
    (
        Slide(
            "Sentences of a batch are filled up to one length with `<pad>`. A head that is set by hand reads all that "
            "it may in equal parts. Without a mask that includes the padding: two words and three fillers share every "
            "row.",
            ("scores", "weights", "heads"),
            {"mask": "none"},
            question=Question(
                "weight",
                "Two words, three times <pad>, no mask, all scores equal. How much does the first word give to the "
                "first <pad>?",
                {"head": 1, "query": 1, "key": 3},
                "A fifth to each of five keys, so that three fifths go to padding.",
            ),
        ),
        Slide(
            "A padding mask closes the padding's **columns**. Each word now shares itself out between the two words, "
            "as if the padding were not there.",
            ("masked", "weights", "heads"),
            question=Question("weight", at={"head": 1, "query": 1, "key": 2}, why="Two keys are left."),
        ),
        Slide(
            "As if it were not there: filled up to eight in place of five, the rows of the words keep the same "
            "numbers.",
            ("weights", "heads"),
            {"pad_to": 8},
            question=Question(
                "true_or_false",
                "Filled up to eight, with the padding mask: do the words keep clear of all padding?",
                {"says": "padding_is_not_read"},
                "All columns of padding are closed, however many there are.",
            ),
        ),
        Slide(
            "The padding's own **rows** still hold something: a filler asks and gets an answer, which nobody uses. "
            "Closing these rows too changes nothing for the words, and leaves rows with nothing allowed: zeros here, "
            "NaN where a program takes no care, and one NaN spreads. So close columns, and drop the padding's outputs.",
            ("masked", "weights", "heads"),
            {"mask": "custom", "custom_cells": "1: 1-2, 2: 1-2"},
            beside=True,
            question=Question(
                "rows_changed",
                "Beside the padding's columns its rows are closed too. Which rows of the output of the head change?",
                {"step": "heads"},
            ),
        ),
        Slide(
            "Closing **only** the rows is the mistake: the words then read padding as without a mask.",
            ("masked", "weights", "heads"),
            {"mask": "custom", "custom_cells": "1: 1-5, 2: 1-5"},
            question=Question(
                "true_or_false",
                "Only the rows of padding are closed. Do the words keep clear of padding now?",
                {"says": "padding_is_not_read"},
                "In the rows of the words every column is open.",
            ),
        ),
    ),
    f"{PYTORCH}, nn.MultiheadAttention (key_padding_mask: a mask over keys)",
)
