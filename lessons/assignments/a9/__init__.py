"""Assignment 9: an open problem, the prediction of outcomes."""
