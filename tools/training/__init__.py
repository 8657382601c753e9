"""How the models in the package were trained, measured and written: needs PyTorch, which attnviz itself does not."""
