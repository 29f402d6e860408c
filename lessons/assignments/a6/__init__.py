"""Assignment 6: fan-out, from Lagrange's rule to whole guesses."""
