"""Numbers about heads over many texts, and how far two checkpoints are apart on them."""
