"""Assignment 5: the whole speculator."""
