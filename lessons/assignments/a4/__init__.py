"""Assignment 4: SSD on tables."""
