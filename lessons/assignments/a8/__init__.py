"""Assignment 8: tests that find broken decoders and acquit sound ones."""
