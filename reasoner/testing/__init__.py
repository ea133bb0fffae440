"""For authors of recipes, operators and models: test doubles and Hypothesis strategies."""

from reasoner.testing.doubles import (
    FakeClock,
    LiteralLinker,
    ScriptedModel,
    WordEmbedder,
    shuffled,
    tiny_kg,
)  # fmt: skip

__all__ = [
    "FakeClock",
    "LiteralLinker",
    "ScriptedModel",
    "WordEmbedder",
    "shuffled",
    "tiny_kg",
]
