"""Trained models: a folder as Hugging Face writes it, run step by step with every step kept."""
