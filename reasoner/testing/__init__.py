"""For authors of recipes, operators and models: test doubles and Hypothesis strategies."""
