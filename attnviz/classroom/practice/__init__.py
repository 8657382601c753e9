"""Practice: questions of computed kinds that deal new settings, and what a learner answered of them."""
