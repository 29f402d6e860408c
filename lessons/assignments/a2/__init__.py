"""Assignment 2: one round of verification."""
