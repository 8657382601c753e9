"""What the numbers are made of: addressable noise and memory that is used again."""
