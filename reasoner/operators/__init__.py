"""Operators: one file, one function, one word of the language."""
