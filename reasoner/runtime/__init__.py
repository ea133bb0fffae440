"""The runtime: a plan in, a record out."""
