"""Assignment 1: laws, a KV cache, and one token after another."""
