"""Models with an encoder and a decoder beside it, T5 and BART: their parts, and one kind of attention alone."""
