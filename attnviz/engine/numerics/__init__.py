"""The ground of all numbers: addressable noise, products in a fixed order, and memory that is used again."""
