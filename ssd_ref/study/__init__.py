"""Measuring the decoders: their forwards, their speed, and what overlap would make of it."""
