"""Two published examples that print numbers which do not follow from their own inputs.

The lessons show what is printed beside what is right, and why the printed number cannot be right.
"""

from __future__ import annotations

from attnviz.core.edits import Edit
from attnviz.core.lesson import Lesson, Question, Slide


def _matrix(step: str, rows: str) -> tuple[Edit, ...]:
    """The edits that make a matrix of the first head what is written, a line a row."""
    numbers = [[float(number) for number in row.split()] for row in rows.strip().splitlines()]
    return tuple((0, step, (0, i, j), x) for i, row in enumerate(numbers) for j, x in enumerate(row))


TRANSLATION = Lesson(
    name="translation",
    title="Le chat mange du poisson",
    about="How can one tell that printed attention weights cannot be right?",
    setting={
        "sentence": "The cat eats fish",
        "second_sentence": "Le chat mange du poisson",
        "embedding": "own",
        "own_numbers": "0.1 0.2 -0.3\n-0.4 0.3 0.2\n0.5 0.1 -0.2\n-0.2 0.4 0.3",
        "own_numbers_second": "-0.2 0.3 0.5\n0.1 -0.4 0.2\n0.4 -0.1 0.6\n0.2 0.5 -0.1\n0.3 -0.2 0.4",
        "position": "none",
        "initialiser": "identity",
        "d_model": 3,
        "n_heads": 1,
        "d_k": 3,
        "d_v": 3,
        "score": "dot",
        "d_a": 3,
        "output_projection": False,
    },
    slides=(
        Slide(
            "Four English words ask, five French words answer; each is three numbers. There are no matrices here: the "
            "French vectors are keys and values at once, and the score is the plain dot product, without a scale.",
            steps=("queries", "keys"),
        ),
        Slide(
            "The first English word is (0.1, 0.2, −0.3), the first French one (−0.2, 0.3, 0.5). The example prints "
            "0.11 as their score.",
            steps=("queries", "keys", "scores"),
            question=Question(
                "number",
                "What is the dot product of {query} and {key}?",
                {"step": "scores", "query": 1, "key": 1},
                "The products are −0.02, 0.06 and −0.15. The printed 0.11 has the right size and the wrong sign.",
            ),
        ),
        Slide(
            "The scores of the first English word, as printed and as they follow from the printed vectors:\n\n"
            "| | Le | chat | mange | du | poisson |\n|---|---|---|---|---|---|\n"
            "| printed | 0.11 | −0.09 | 0.01 | −0.01 | 0.07 |\n"
            "| from the vectors | [[scores.1.1.1.1]] | [[scores.1.1.1.2]] | [[scores.1.1.1.3]] | [[scores.1.1.1.4]] | "
            "[[scores.1.1.1.5]] |\n\n"
            "None of the twenty printed scores is right. The example has a row for each French word and a column for "
            "each English one; here it is the other way round, queries down, keys across.",
            steps=("scores",),
        ),
        Slide(
            "Now the weights. The example prints a column of them for each English word; the four columns add to "
            "1.45, 1, 1 and 1.38.",
            steps=("weights",),
            question=Question(
                "sum",
                "Here the weights of a query stand in a row. What does the row of {query} add to?",
                {"query": 1, "tolerance": 0.001},
                "Softmax hands out shares of a whole. Two of the four printed columns cannot be weights, whatever the "
                "scores were. Adding up is the first check of any printed weights; it needs no scores.",
            ),
        ),
        Slide(
            "The weights of the first English word:\n\n"
            "| | Le | chat | mange | du | poisson |\n|---|---|---|---|---|---|\n"
            "| printed | 0.3218 | 0.2586 | 0.2857 | 0.2784 | 0.3055 |\n"
            "| right | [[weights.1.1.1.1]] | [[weights.1.1.1.2]] | [[weights.1.1.1.3]] | [[weights.1.1.1.4]] | "
            "[[weights.1.1.1.5]] |\n\n"
            "The scores lie close together, so the weights lie close to 1/5. The printed ones do not even follow from "
            "the printed scores.",
            steps=("scores", "weights"),
        ),
        Slide(
            "The output is the French vectors, mixed. For the first English word the example prints (0.1866, −0.0502, "
            "0.4296); right is ([[heads.1.1.1.1]], [[heads.1.1.1.2]], [[heads.1.1.1.3]]). A mixture with shares that "
            "add to 1 stays between the smallest and the largest of what is mixed, and here, with shares near 1/5, "
            "near the mean.",
            steps=("weights", "values", "heads"),
        ),
        Slide(
            "The example also names the additive score, $v \\cdot \\tanh(q W_q + k W_k)$, without numbers for its "
            "matrices. With identities for both and ones for $v$ it can be computed on the same vectors.",
            steps=("weights",),
            change={"score": "additive"},
            beside=True,
            question=Question(
                "highest_key",
                "Under the additive score, which French word does {query} take the most from?",
                {"query": 1},
                "With these matrices the key's own numbers decide: the query and the key are added, so a key with "
                "large entries scores high with every query.",
            ),
        ),
    ),
    source="A blog post with a worked translation; every printed number is recomputed in tests/core/test_seeds.py.",
)

_W_QK = """
0.85457913 0.72805367 0.52885905 0.81602111 0.11114425 0.16665275
0.99075152 0.43915368 0.09446376 0.81835108 0.449025 0.76979672
0.45029968 0.60978598 0.99083217 0.20000659 0.37349433 0.5733803
0.68608398 0.72666931 0.09941451 0.34274698 0.34492009 0.53264535"""
_W_V = """
0.36952055 0.22762371 0.03909977 0.43702857 0.80597927
0.94430039 0.39320212 0.00445702 0.11603836 0.68048885
0.30011805 0.76770143 0.00765135 0.02766898 0.96769012
0.11024414 0.62303738 0.50907588 0.35974711 0.28597405"""

TIED = Lesson(
    name="tied",
    title="One matrix for queries and keys",
    about="What follows when W_Q and W_K are the same, and how do printed scores go stale?",
    setting={
        "sentence": "one two three",
        "embedding": "own",
        "own_numbers": "0.47403009 0.32876477 0.20495151 0.85971434\n"
        "0.80437388 0.22153859 0.88344645 0.47825417\n"
        "0.18688316 0.1481623 0.90946148 0.42144322",
        "position": "none",
        "initialiser": "identity",
        "edits": (*_matrix("w_q", _W_QK), *_matrix("w_k", _W_QK), *_matrix("w_v", _W_V)),
        "d_model": 4,
        "n_heads": 1,
        "d_k": 6,
        "d_v": 5,
        "tied": True,
        "output_projection": False,
    },
    slides=(
        Slide(
            "Three tokens of four numbers. One matrix, 4 × 6, makes both the queries and the keys; another, 4 × 5, "
            "makes the values. A head may be wider than what it reads, and values need not be as wide as keys.",
            steps=("embedded", "w_q", "w_v"),
        ),
        Slide(
            "With one matrix for both, each token's query is also its key.",
            steps=("queries", "keys", "scores"),
            question=Question(
                "true_or_false",
                "Is the score of every pair the same in both directions?",
                {"says": "symmetric"},
                "$q_i \\cdot k_j = k_i \\cdot q_j$ when each query is its key. The weights are not symmetric: each row "
                "is divided by a sum of its own.",
            ),
        ),
        Slide(
            "The first token's score with itself is then its query times itself: a sum of squares. The query is "
            "([[queries.1.1.1.1]], [[queries.1.1.1.2]], [[queries.1.1.1.3]], [[queries.1.1.1.4]], [[queries.1.1.1.5]], "
            "[[queries.1.1.1.6]]).",
            steps=("queries", "keys", "scores"),
            question=Question(
                "number",
                "What is the score of {query} with itself?",
                {"step": "scores", "query": 1, "key": 1, "tolerance": 0.02},
                "The example prints 5.068. The first five squares alone add to 5.169, and no square is negative.",
            ),
        ),
        Slide(
            "All scores, printed and as they follow from the printed queries:\n\n"
            "| printed | | | from the queries | | |\n|---|---|---|---|---|---|\n"
            "| 5.068 | 3.091 | 3.476 | [[scores.1.1.1.1]] | [[scores.1.1.1.2]] | [[scores.1.1.1.3]] |\n"
            "| 3.091 | 2.352 | 2.252 | [[scores.1.1.2.1]] | [[scores.1.1.2.2]] | [[scores.1.1.2.3]] |\n"
            "| 3.476 | 2.252 | 2.575 | [[scores.1.1.3.1]] | [[scores.1.1.3.2]] | [[scores.1.1.3.3]] |\n\n"
            "The printed ones are symmetric too, as those of other tokens would be: cells of the notebook "
            "were run again with new random numbers, and this one was not.",
            steps=("queries", "scores"),
        ),
        Slide(
            "The printed weights do follow from the printed scores, divided by $\\sqrt{6}$; so they are as stale. The "
            "first row is printed as 0.5081, 0.2267, 0.2652.",
            steps=("scores", "weights"),
            question=Question(
                "highest_key",
                "By the printed weights {query} takes the most from itself. Which token does it take the most from?",
                {"query": 1},
                "The second token's key is the longest and points much the same way as the others: its score is the "
                "largest with every query.",
            ),
        ),
        Slide(
            "The scores were divided by $\\sqrt{6}$, for the width of queries and keys. The values are mixed as they "
            "are.",
            steps=("weights", "values", "heads"),
            question=Question(
                "shape",
                "Three queries, values of width 5. Which shape has the output of the head?",
                {"step": "heads"},
                "A row for each query, and the width of the values. The 6 of the queries and keys is gone since the "
                "scores.",
            ),
        ),
        Slide(
            "The printed output begins with 1.352; from the printed inputs follows [[heads.1.1.1.1]]. Look at what is "
            "mixed: the first entries of the values are [[values.1.1.1.1]], [[values.1.1.2.1]] and "
            "[[values.1.1.3.1]]. No mixture of them can reach 1.352, as shares that add to 1 stay between the "
            "smallest and the largest.",
            steps=("values", "weights", "heads"),
        ),
    ),
    source="A notebook on rectangular projections; its numbers, right and stale, are in tests/core/test_seeds.py.",
)
