"""Five published worked examples of attention as lessons: their numbers, in words of our own."""

from __future__ import annotations

from attnviz.core.examples_of_masks import CAUSAL
from attnviz.core.examples_of_shapes import BITS, STORE
from attnviz.core.examples_with_errors import TIED, TRANSLATION
from attnviz.core.lesson import Lesson

EXAMPLES: tuple[Lesson, ...] = (BITS, STORE, TRANSLATION, CAUSAL, TIED)
