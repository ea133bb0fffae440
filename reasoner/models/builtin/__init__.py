"""The builtin engine: rules instead of a language model, deterministic, with no weights of its own.

It works from the typed view of a request and says what it is: a baseline that a real model has
to beat. Nothing in it knows a graph, a domain or a method.
"""
