"""Retrieval: names and texts to candidates, over protocols and arrays only."""
