"""What heads do over many texts, and how far two checkpoints are apart on them."""
