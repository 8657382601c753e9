"""Four short lessons on what is often mixed up about heads: their projections, widths, mixing and sharing."""

from __future__ import annotations

from attnviz.core.lesson import Lesson, Question, Slide

PAPER = "Vaswani et al. 2017, arXiv:1706.03762"

ONE_OR_MANY = Lesson(
    "one_or_many",
    "One projection that is then split, or a projection for each head?",
    "The same thing twice: matrices side by side are one matrix, and every head reads the whole embedding.",
    {
        "sentence": "we split one matrix",
        "position": "none",
        "d_model": 6,
        "n_heads": 3,
        "d_k": 2,
        "d_v": 2,
    },
    (
        Slide(
            "The paper writes one $W_Q$ for each head: here three matrices with a row for each of the six numbers of "
            "a word and a column for each of the two numbers of a query.",
            ("embedded", "w_q", "queries"),
            question=Question("shape", at={"step": "w_q"}),
        ),
        Slide(
            "Code often holds **one** matrix and cuts its result: $X\\,[W_Q^1\\; W_Q^2\\; W_Q^3] = [XW_Q^1\\; "
            "XW_Q^2\\; XW_Q^3]$. Matrices side by side are one wider matrix, so both ways give the same queries, and "
            "have the same number of parameters.",
            ("w_q", "queries"),
            question=Question(
                "size",
                "How many numbers are there in the W_Q of all three heads together?",
                {"step": "w_q"},
                "As many as in one matrix with six rows and six columns.",
            ),
        ),
        Slide(
            "What is cut is the **result**, not the embedding. Every head reads all of $X$: change the last number of "
            "one word, and its query changes in every head, not in the last alone.",
            ("embedded", "queries"),
            {"edits": ((None, "embedded", (2, 5), 4.0),)},
            beside=True,
            question=Question(
                "rows_changed",
                "The last of the six numbers of the third word is changed. Which rows of the queries of head 1 change?",
                {"step": "queries", "head": 1},
                "Head 1 reads all six numbers of each word, the last one too.",
            ),
        ),
        Slide(
            "Cut into two heads of three columns, the one matrix would have the same size. What changes is how many "
            "score matrices there are: scores are taken head by head, and never across a cut.",
            ("w_q", "scores"),
            {"n_heads": 2, "d_k": 3, "d_v": 3},
            question=Question("size", "How many numbers are in the W_Q of two heads of width 3?", {"step": "w_q"}),
        ),
    ),
    f"{PAPER}, section 3.2.2",
)

MUST_DIVIDE = Lesson(
    "must_divide",
    "Must d_model be divisible by the number of heads?",
    "No. Only a head's queries and keys must be of one width, and W_O must have a row for each joined column.",
    {
        "sentence": "a bird sang once",
        "position": "none",
        "d_model": 7,
        "n_heads": 3,
        "d_k": (4, 3, 2),
        "d_v": (2, 1, 5),
    },
    (
        Slide(
            "Seven numbers a word, three heads, and no two of one width. It runs: each head has its own $W_Q$ and "
            "$W_K$ of 7 rows, and any number of columns that **both** have, for $q \\cdot k$ needs two vectors of one "
            "length.",
            ("queries", "keys", "scores"),
        ),
        Slide(
            "The width of the values is free. It is the width of a head's output, and no score sees it. With the last "
            "head's values two wide in place of five, all weights are the same.",
            ("weights", "values", "heads"),
            {"d_v": (2, 1, 2)},
            question=Question(
                "rows_changed",
                "The values of head 3 get another width. Which rows of the weights change?",
                {"step": "weights", "change": {"d_v": (2, 1, 5)}},
                "None: values enter after the weights are made.",
            ),
        ),
        Slide(
            "The heads are joined side by side, $2 + 1 + 5$ columns, and $W_O$ has a row for each of them. It alone "
            "brings the sum of all $d_v$ back to $d_{model}$.",
            ("concat", "w_o", "output"),
            question=Question("shape", at={"step": "w_o"}),
        ),
        Slide(
            "So where does the rule come from? The paper **chooses** $d_k = d_v = d_{model} / h$. Then the heads "
            "together have as many parameters, and cost about as much, as one head of full width, and the joined "
            "heads are as wide as $X$. A program that cuts one square matrix into equal heads has to insist on it; "
            "attention does not.",
            ("heads", "concat", "w_o"),
            {"d_model": 6, "d_k": 2, "d_v": 2},
            question=Question(
                "shape", "Six numbers a word, three heads of two: the shape of the joined heads?", {"step": "concat"}
            ),
        ),
    ),
    f"{PAPER}, section 3.2.2",
)

SILENCED = tuple((0, "w_o", (row, column), 0.0) for row in (2, 3) for column in range(5))

WHAT_W_O_DOES = Lesson(
    "what_w_o_does",
    "What does W_O do after the heads are joined?",
    "Joining only lays the heads side by side; W_O adds them up, each through rows of its own.",
    {"sentence": "two heads speak", "position": "none", "d_model": 5, "n_heads": 2, "d_k": 3, "d_v": 2},
    (
        Slide(
            "Joining is no computation: the columns of head 1, then those of head 2. No number is changed, and "
            "nothing of one head has met anything of the other.",
            ("heads", "concat"),
            question=Question("shape", at={"step": "concat"}),
        ),
        Slide(
            "$W_O$ is where they meet. Cut it into blocks of rows, one a head: $[Z_1\\; Z_2]\\,W_O = Z_1 W_O^1 + Z_2 "
            "W_O^2$. Each head writes to **all** columns of the output, and what the heads write is **added**.",
            ("concat", "w_o", "output"),
            question=Question(
                "true_or_false",
                "Is the output the sum of what each head writes through its own rows of W_O?",
                {"says": "heads_add_up"},
                "A product with blocks side by side is the sum of the products of the blocks.",
            ),
        ),
        Slide(
            "Without it the output is the joined heads: column 1 can never hold anything but head 1.",
            ("heads", "concat", "output"),
            {"output_projection": False},
            question=Question(
                "rows_changed",
                "W_O is taken away. Which rows of the heads change?",
                {"step": "heads", "change": {"output_projection": True}},
                "None: W_O comes after the heads.",
            ),
        ),
        Slide(
            "Set head 2's rows of $W_O$ to zero: its weights and its output are as they were, and nobody hears it. "
            "What a head does is decided by its rows of $W_O$ as much as by its weights.",
            ("heads", "w_o", "output"),
            {"edits": SILENCED},
            beside=True,
            question=Question(
                "rows_changed",
                "Rows 3 and 4 of W_O are zero. Now a value of head 2 is changed as well. Which rows of the output "
                "change?",
                {"step": "output", "change": {"edits": (*SILENCED, (0, "values", (1, 0, 0), 9.0))}},
                "None: whatever head 2 says is multiplied by zero.",
            ),
        ),
    ),
    f"{PAPER}, section 3.2.2",
)

SELF_CROSS_GROUPED = Lesson(
    "self_cross_grouped",
    "Self, cross, grouped: who shares what?",
    "Two separate choices: where keys and values come from, and how many heads share them.",
    {
        "sentence": "the cat sat",
        "d_model": 8,
        "n_heads": 4,
        "d_k": 2,
        "d_v": 3,
        "output_projection": False,
    },
    (
        Slide(
            "**Self-attention**: queries, keys and values come from one sentence. As many rows as columns, a matrix "
            "for each head.",
            ("queries", "keys", "weights"),
            question=Question("shape", at={"step": "weights"}),
        ),
        Slide(
            "**Cross-attention**: keys and values come from a second sentence. The matrix is no longer square: a row "
            "for each word that asks, a column for each that is read. The queries are what they were, and the output "
            "still has a row for each query.",
            ("queries", "keys", "weights", "heads"),
            {"second_sentence": "le chat noir dort ici"},
            question=Question("shape", at={"step": "weights"}),
        ),
        Slide(
            "**Grouped-query attention**: one sentence again, four heads of queries and two of keys and values. Heads "
            "1 and 2 read the same keys and values, and so do heads 3 and 4. Queries stay as many as before.",
            ("queries", "keys", "weights"),
            {"n_kv_heads": 2},
            question=Question("shape", at={"step": "keys"}),
        ),
        Slide(
            "Shared keys are not shared weights. Two heads of a group ask different questions of the same keys, so "
            "their rows differ.",
            ("keys", "weights", "heads"),
            {"n_kv_heads": 2},
            question=Question(
                "true_or_false",
                "Two heads of a group share keys and values. Do they have the same weights?",
                {"says": "groups_agree"},
                "Their queries differ, and so do their scores.",
            ),
        ),
        Slide(
            "**Multi-query attention** is the end of that road: one head of keys and values for all. The gain is "
            "memory: while a text is written, keys and values of every word so far are kept, and there is a quarter "
            "as much to keep as with four heads of them.",
            ("queries", "keys", "values"),
            {"n_kv_heads": 1},
            question=Question(
                "size", "Three words, one key head of width 2: how many numbers are the keys?", {"step": "keys"}
            ),
        ),
    ),
    f"{PAPER}, section 3.2.3; Ainslie et al. 2023, arXiv:2305.13245; Shazeer 2019, arXiv:1911.02150, abstracts",
)
