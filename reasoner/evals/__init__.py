"""Measuring recipes: data sets, metrics, tables."""
