"""Four short lessons on what is often mixed up in reading the weights: axes, order, explanation."""

from __future__ import annotations

from attnviz.core.lesson import Lesson, Question, Slide

PAPER = "Vaswani et al. 2017, arXiv:1706.03762"

MUTED = tuple((0, "values", (0, 0, column), 0.0) for column in range(3))
TO_FIRST, TO_FOURTH = (
    tuple((0, "weights", (0, 0, key), float(key == chosen)) for key in range(5)) for chosen in (0, 3)
)
"""All weight of the first row on its first key, or on its fourth."""


SOFTMAX_AXIS = Lesson(
    "softmax_axis",
    "Softmax over rows or over columns?",
    "Over the keys: each query shares itself out, so that each row adds to 1.",
    {
        "sentence": "the cat sat down",
        "d_model": 8,
        "n_heads": 2,
        "d_k": 3,
        "d_v": 2,
        "output_projection": False,
    },
    (
        Slide(
            "A row holds one query's scores for all keys. Softmax runs along the row, over the **keys**: $\\sum_j "
            "a_{ij} = 1$. So each output is a weighted mean of the values, and in every column lies between the "
            "smallest and the largest of them.",
            ("scaled", "weights", "heads"),
            question=Question("sum", at={"head": 1, "query": 2}, why="Each query shares out exactly 1."),
        ),
        Slide(
            "The other way, over the **queries**: now each key shares itself out, $\\sum_i a_{ij} = 1$. The columns "
            "add to 1 and the rows to whatever is left, so that outputs are no means of values any more.",
            ("weights", "heads"),
            {"normalise_over": "queries"},
            beside=True,
            question=Question("sum", at={"head": 1, "key": 2}, why="Now each key hands out exactly 1."),
        ),
        Slide(
            "With a causal mask the wrong way does harm that can be proved. The last key is open to the last query "
            "alone and gives it all of its 1, so that the last row adds to more than 1; the first query gets only "
            "part of the first key, so that its row adds to less.\n\nAnd the mask leaks: a later word is in the sum "
            "under every earlier weight.",
            ("weights", "heads"),
            {"normalise_over": "queries", "mask": "causal"},
            question=Question(
                "rows_changed",
                "Only the last word is replaced by another. Softmax runs over the queries, under a causal mask. In "
                "which rows do the weights change?",
                {"step": "weights", "change": {"sentence": "the cat sat up"}},
                "Every column reaches down to the last query, so its score is part of every sum.",
            ),
        ),
        Slide(
            "Over the keys, the same replacement under the same mask changes the last row and no other: earlier words "
            "cannot know.",
            ("weights", "heads"),
            {"mask": "causal"},
            question=Question(
                "rows_changed",
                "The same replacement, but now softmax runs over the keys. In which rows do the weights change?",
                {"step": "weights", "change": {"sentence": "the cat sat up"}},
            ),
        ),
        Slide(
            "With two sentences the matrix is not square, and the axis shows at once: the weights add up to the "
            "number of **queries**, here 4, not to that of keys, here 3. In code the keys are the last axis: `dim=-1`.",
            ("scaled", "weights"),
            {"second_sentence": "le chat dort"},
            question=Question("shape", at={"step": "weights"}),
        ),
    ),
    f"{PAPER}, section 3.2.1",
)

ROWS_AND_COLUMNS = Lesson(
    "rows_and_columns",
    "Which axis is the query, and which the key?",
    "A row asks and a column answers; what is read flows from the column's word to the row's.",
    {
        "sentence": "anna reads many old books",
        "d_model": 16,
        "n_heads": 2,
        "initialiser": "by_hand",
        "patterns": ("previous", "first"),
        "normaliser": "hardmax",
        "output_projection": False,
    },
    (
        Slide(
            "Two heads set by hand, with all-or-nothing weights so that every cell is 0 or 1. **A row belongs to the "
            "word that asks.** In head 1 every word reads the one before it: go along the third row, and the 1 stands "
            "in the second column. (The first word has none before it and reads itself.)",
            ("weights",),
            question=Question("highest_key", at={"head": 1, "query": 3}),
        ),
        Slide(
            "**A column belongs to the word that is read.** In head 2 every word reads the first, so the first column "
            "is full. A row always adds to 1; a column adds to how much is taken from its word in all, and that may "
            "be anything from 0 to the number of queries.",
            ("weights",),
            question=Question("sum", at={"head": 2, "key": 1}, why="Each of the five words gives it all its weight."),
        ),
        Slide(
            "The direction matters: in head 1 the third word reads the second, and the second does not read the "
            "third. Turned over its diagonal, the picture would say that words read the one after them, which is "
            "another head.",
            ("scores", "weights"),
            question=Question("true_or_false", at={"head": 1, "says": "symmetric"}),
        ),
        Slide(
            "Information flows **from the column's word to the row's word**. In head 1 the value of the second word "
            "is changed: only a row that takes from the second column can notice.",
            ("weights", "values", "heads"),
            {"edits": ((0, "values", (0, 1, 0), 9.0),)},
            beside=True,
            question=Question(
                "rows_changed",
                "One number in the value of the second word is changed, in head 1. Which rows of the output of the "
                "heads change?",
                {"step": "heads"},
                "Head 1 reads the word before, so only the third word takes from the second.",
            ),
        ),
        Slide(
            "Other books draw keys as rows and queries as columns. There is one test that needs no legend: add up "
            "along both axes. The axis **along which every sum is 1** runs over the keys.",
            ("weights",),
        ),
    ),
    f"{PAPER}, section 3.2.1: Q times the transpose of K, a row for each query",
)

ORDER = Lesson(
    "order",
    "Does attention know the order of the words?",
    "Not by itself: shuffled words give the same rows, shuffled, until positions or a mask tell places apart.",
    {
        "sentence": "dog bites man",
        "position": "none",
        "d_model": 8,
        "n_heads": 2,
        "d_k": 4,
        "d_v": 2,
    },
    (
        Slide(
            "No positions, no mask. First and last word change places: in the output their rows change places with "
            "them, and nothing else happens. The verb's row there is the same, number for number: it cannot tell who "
            "bites whom.",
            ("weights", "output"),
            {"sentence": "man bites dog"},
            beside=True,
            question=Question(
                "rows_changed",
                "Without positions, the first and the last word change places. In which rows does the output hold "
                "other numbers?",
                {"step": "output"},
                "Rows 1 and 3 hold each other's numbers; the middle one sums over the same keys as before.",
            ),
        ),
        Slide(
            "Now a vector for each position is added to the words: $X = E + P$. The same word at another place is "
            "another row, and the verb's output changes.",
            ("token_embeddings", "positions", "embedded"),
            {"position": "sinusoidal"},
            question=Question(
                "rows_changed",
                "With positions added, first and last word change places again. In which rows does the output change?",
                {"step": "output", "change": {"sentence": "man bites dog"}},
            ),
        ),
        Slide(
            "Why added and not appended? Because that is nearly the same: $(E+P)\\,W = EW + PW$, and appended columns "
            "would give $[E\\; P]\\,[W_1;\\, W_2] = EW_1 + PW_2$. Adding is appending with one matrix for both, and "
            "no wider. The price is that words and places share their columns.",
            ("token_embeddings", "positions", "queries"),
            {"position": "sinusoidal"},
        ),
        Slide(
            "A **causal mask** brings order too, without any position: the verb sees itself and what stands before "
            "it. Language models trained without position vectors have been found to learn places all the same.",
            ("weights", "output"),
            {"mask": "causal"},
            question=Question(
                "rows_changed",
                "No positions, but a causal mask. First and last word change places: in which rows does the output "
                "change?",
                {"step": "output", "change": {"sentence": "man bites dog"}},
            ),
        ),
        Slide(
            "**Rotary positions** add nothing: queries and keys are turned by an angle that grows with the place, and "
            "a score keeps only the difference of two angles. So the same two words at the same distance have the "
            "same score, wherever they stand.",
            ("projected_queries", "queries", "scores"),
            {"sentence": "dog bites dog bites", "position": "rope"},
            question=Question(
                "true_or_false",
                "Under rotary positions, do the same two words at the same distance have the same score?",
                {"says": "scores_follow_distance"},
                "Turning both by the same angle more leaves their product as it is.",
            ),
        ),
    ),
    "Vaswani et al. 2017, arXiv:1706.03762, section 3.5; Haviv et al. 2022, arXiv:2203.16634, abstract; Su et al. "
    "2021, arXiv:2104.09864, section 3.2",
)

NOT_EXPLANATION = Lesson(
    "not_explanation",
    "Does a high weight explain the answer?",
    "A weight says how much of a value is taken; not what is in that value, and not why.",
    {
        "sentence": "a cat saw the dog",
        "position": "none",
        "d_model": 8,
        "n_heads": 1,
        "d_k": 4,
        "d_v": 3,
        "initialiser": "by_hand",
        "patterns": ("first",),
        "output_projection": False,
    },
    (
        Slide(
            "Four heads with **random** matrices. Strong cells, faint cells, another picture in each head; and "
            "nothing was learned. A picture that has structure is no proof of meaning.",
            ("scores", "weights"),
            {"initialiser": "normal", "n_heads": 4},
            question=Question(
                "true_or_false",
                "Four heads with random matrices, never trained. Does the largest weight of a row, on average, pass "
                "one half?",
                {"says": "mostly_one_key"},
                "Large random scores are enough for it.",
            ),
        ),
        Slide(
            "A head **set by hand**: every word reads the first, a picture that many trained models show too. What "
            "this head is for we know because it was built so, and not because of how it looks.",
            ("scores", "weights", "heads"),
            question=Question("highest_key", at={"head": 1, "query": 3}),
        ),
        Slide(
            "Now the value of the first word is set to zero. The weights do not move and the first column stays as "
            "strong as it was, but what it adds to the output is $a_{i1} v_1 = 0$. The output is made of the small "
            "rest. A weight is half of what counts; the other half is **the value itself**.",
            ("weights", "values", "heads"),
            {"edits": MUTED},
            beside=True,
            question=Question(
                "rows_changed",
                "The value of the first word is set to zero. Which rows of the weights change?",
                {"step": "weights"},
                "None: values enter later.",
            ),
        ),
        Slide(
            "One word stands at two places, and its values are equal. The first row is set by hand: all its weight "
            "lies on the first of the two.",
            ("weights", "values", "heads"),
            {"sentence": "the cat saw the dog", "patterns": ("same_word",), "edits": TO_FIRST},
            question=Question(
                "rows_changed",
                "All the weight of the first row is moved to the other place where the same word stands. Which rows "
                "of the output of the head change?",
                {"step": "heads", "change": {"edits": TO_FOURTH}},
                "None: it takes the same value from another place.",
            ),
        ),
        Slide(
            "Here it has been moved: two pictures that look nothing alike, one output. In trained models, too, very "
            "different weights can give equivalent predictions (Jain and Wallace). Whether a weight may still count "
            "as an explanation depends on what is meant by one (Wiegreffe and Pinter). What it does say is exact: how "
            "much of a value enters this sum.",
            ("weights", "values", "heads"),
            {"sentence": "the cat saw the dog", "patterns": ("same_word",), "edits": TO_FOURTH},
        ),
    ),
    "Kobayashi et al. 2020, arXiv:2004.10102, introduction; Jain and Wallace 2019, arXiv:1902.10186, abstract; "
    "Wiegreffe and Pinter 2019, arXiv:1908.04626, abstract; Xiao et al. 2023, arXiv:2309.17453, section 3.1",
)
