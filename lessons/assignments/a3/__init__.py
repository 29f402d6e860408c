"""Assignment 3: the loop of speculative decoding."""
