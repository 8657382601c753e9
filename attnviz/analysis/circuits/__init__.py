"""The purpose of a head: runs with some of their numbers put otherwise, and what a next word is owed to."""
