"""The panels of the pages."""
