"""Trained models as a run knows them: those that are offered, what they decide of a setting, and facts about them."""
