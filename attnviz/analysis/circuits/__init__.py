"""What a head is for: runs with some of their numbers put otherwise, and what a next word is owed to."""
