"""Two published examples about shapes: heads of different sizes, and a store of keys and values."""

from __future__ import annotations

from attnviz.core.lesson import Lesson, Question, Slide

BITS = Lesson(
    name="bits",
    title="Zeros and ones",
    about="What are the shapes on the way, and can heads have different sizes?",
    setting={
        "sentence": "five words make this sentence",
        "embedding": "binary",
        "position": "none",
        "initialiser": "binary",
        "d_model": 7,
        "n_heads": 1,
        "d_k": 3,
        "d_v": 3,
        "output_projection": False,
    },
    slides=(
        Slide(
            "Five words, each of them seven random bits: a matrix $X$ of 5 rows and 7 columns. Three more matrices of "
            "random bits, 7 × 3, turn it into queries, keys and values. Up to the scores everything is a whole "
            "number, so every step can be checked without a calculator: an entry of $Q$ counts the places where a "
            "word and a column of $W_Q$ are both 1.",
            steps=("embedded", "w_q"),
        ),
        Slide(
            "The first word has a query of three counts. Take row 1 of $X$ and column 2 of $W_Q$, and count.",
            steps=("embedded", "w_q", "queries"),
            question=Question(
                "number",
                "How many places are 1 both in the bits of {query} and in column 2 of W_Q?",
                {"step": "queries", "query": 1, "column": 2, "tolerance": 0},
                "A row times a column of zeros and ones is a count, nothing more.",
            ),
        ),
        Slide(
            "Every query meets every key. The three numbers of a query and the three of a key are multiplied one by "
            "one and added: a single number for each pair of words.",
            steps=("queries", "keys", "scores"),
            question=Question(
                "shape",
                "The queries are 1 × 5 × 3, for one head, and so are the keys. Which shape do the scores have?",
                {"step": "scores"},
                "The width of 3 is summed away. What is left is a row for each query and a column for each key.",
            ),
        ),
        Slide(
            "The scores are divided by $\\sqrt{3}$, as the head is three wide, and each row is put through softmax. "
            "The weights of the first row come from the scores [[scores.1.1.1.1]], [[scores.1.1.1.2]], "
            "[[scores.1.1.1.3]], [[scores.1.1.1.4]] and [[scores.1.1.1.5]].",
            steps=("scores", "weights"),
            question=Question(
                "weight",
                "Which weight does {query} give {key}? Two decimals will do.",
                {"query": 1, "key": 1, "tolerance": 0.01},
                "Some texts call $QK^\\top$ itself the weight matrix. Here the word is kept for what comes after "
                "softmax.",
            ),
        ),
        Slide(
            "Softmax runs along the keys, so each query hands out a whole: its row adds to 1. Nothing holds the "
            "columns together.",
            steps=("weights",),
            question=Question(
                "sum",
                "A word can be in demand or not. What does the column of {key} add to?",
                {"key": 3, "tolerance": 0.05},
                "A column adds to whatever the queries happen to want. All columns together add to 5, one for each "
                "query.",
            ),
        ),
        Slide(
            "Nothing ties the sizes of the heads to each other. Here are three, 3, 2 and 4 wide, side by side; each "
            "divides by the root of its own width. What they hand over is joined to one matrix.",
            steps=("concat",),
            change={"n_heads": 3, "d_k": (3, 2, 4), "d_v": (3, 2, 4)},
            question=Question(
                "shape",
                "Which shape has the joined matrix?",
                {"step": "concat"},
                "The widths add up: 3 + 2 + 4. A matrix $W_O$ of 9 rows can bring that to any width that the next "
                "step wants.",
            ),
        ),
        Slide(
            "The example puts heads one after the other, each reading what the one before has made, and ends in a "
            "matrix of five rows and as many columns as the last head is wide. Here a layer ends with $W_O$, so the "
            "second reads seven numbers a word again. In the example only the last one's width is seen from outside.",
            steps=("embedded", "weights", "output"),
            change={"n_layers": 2},
            layer=2,
        ),
    ),
    source="A notebook that draws zeros and ones without a seed; its shapes are held in tests/core/test_seeds.py.",
)

STORE = Lesson(
    name="store",
    title="A store of keys and values",
    about="What do queries, keys and values have to do with looking something up?",
    setting={
        "sentence": "where is the key",
        "second_sentence": "green box red lid old blue map",
        "position": "none",
        "d_model": 6,
        "n_heads": 1,
        "d_k": 3,
        "d_v": 2,
        "initialiser": "glorot",
        "output_projection": False,
    },
    slides=(
        Slide(
            "Think of a store of seven entries, each with a key and a value. Four queries come to it. An ordinary "
            "store returns the value whose key is equal to the query. Here every key answers a little: the better it "
            "matches, the larger the share of its value in what is returned.",
            steps=("queries", "keys", "values"),
        ),
        Slide(
            "The queries come from one sentence, the keys and values from another: cross-attention. The two need not "
            "be of the same length.",
            steps=("scores",),
            question=Question(
                "shape",
                "Four queries, seven keys, one head. Which shape do the scores have?",
                {"step": "scores"},
                "Queries make the rows, keys the columns. Only in self-attention is the matrix always square.",
            ),
        ),
        Slide(
            "One score for each pair. Softmax turns a row of scores into shares; it keeps their order.",
            steps=("scores", "weights"),
            question=Question(
                "highest_key",
                "Look along the row of {query} in the scores. Which key gets the largest weight?",
                {"query": 3},
                "The largest score of a row has the largest weight: softmax never changes the order. The numbers are "
                "random, so that this pair matches says nothing about the words.",
            ),
        ),
        Slide(
            "What is returned is a mixture of all seven values. Queries and keys must be equally wide, as they are "
            "multiplied with each other. Values are only mixed, so their width is free.",
            steps=("weights", "heads"),
            question=Question(
                "shape",
                "The values are two wide. Which shape has what is returned?",
                {"step": "heads"},
                "A row for each query, a column for each number of a value.",
            ),
        ),
        Slide(
            "Each query goes to the store by itself. Put another word in place of the last one that asks.",
            steps=("weights",),
            beside=True,
            change={"sentence": "where is the lock"},
            question=Question(
                "rows_changed",
                "The last word that asks becomes another. Which rows of the weights change?",
                {"step": "weights"},
                "A row depends on its own query and on all keys, and on no other query.",
            ),
        ),
        Slide(
            "Now another word in the store instead: the map becomes a pen. One key and one value are other numbers.",
            steps=("weights",),
            beside=True,
            change={"second_sentence": "green box red lid old blue pen"},
            question=Question(
                "rows_changed",
                "The last word in the store becomes another. Which rows of the weights change?",
                {"step": "weights"},
                "Every row holds a share for every key, and the shares of a row must add to 1. So a new key moves "
                "all of them.",
            ),
        ),
        Slide(
            "The matrices are drawn uniformly between $-a$ and $a$, with $a = \\sqrt{6 / (d_{in} + d_{out})}$: Glorot "
            "and Bengio's choice, made to keep the size of what passes through about as it was. With 6 numbers in and "
            "3 out, as for queries and keys, $a$ is 0.8165. The example writes each matrix as (out, in) and "
            "multiplies by its transpose; here it is (in, out), and nothing is turned.",
            steps=("w_q", "w_k", "w_v"),
        ),
    ),
    source="A class for attention over keys and values of different widths; recomputed in tests/core/test_seeds.py.",
)
