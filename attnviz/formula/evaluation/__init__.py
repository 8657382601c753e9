"""The numbers and the gradients of a formula, and the work that they take."""
