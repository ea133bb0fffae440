"""For authors of recipes, operators and models: test doubles and Hypothesis strategies."""

from typing import TYPE_CHECKING, Any

from reasoner.testing.doubles import (
    FakeClock,
    LiteralLinker,
    ScriptedModel,
    WordEmbedder,
    shuffled,
    tiny_kg,
)  # fmt: skip

if TYPE_CHECKING:
    from reasoner.testing.recipes import modules, valid_modules

__all__ = [
    "FakeClock",
    "LiteralLinker",
    "ScriptedModel",
    "WordEmbedder",
    "modules",
    "shuffled",
    "tiny_kg",
    "valid_modules",
]


def __getattr__(name: str) -> Any:
    """Import a strategy when it is asked for: Hypothesis is needed for development only."""
    if name in {"modules", "valid_modules"}:
        from reasoner.testing import recipes

        return getattr(recipes, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
