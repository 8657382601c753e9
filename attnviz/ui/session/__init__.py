"""Settings and selection of one visitor, and the widgets that show them."""
