"""Pictures that stand still: SVG, PNG, and the text metrics and colours that they need."""
