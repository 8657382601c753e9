"""Handouts on paper, with blanks and with solutions."""
