"""Assignment 7: SSD as two processes over a clock."""
