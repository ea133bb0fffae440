"""Recipes in their canonical layout, and in the other notation."""

from pathlib import Path

from reasoner.api.recipes import NOTATIONS, find_recipe, read_source
from reasoner.errors import UsageError
from reasoner.source import Source


def format_text(source: Source) -> str:
    """Return a recipe in the canonical layout of the notation that its name says.

    Raises
    ------
    RecipeError
        With what is wrong with its syntax or shape.
    """
    from reasoner.frontends import formatter

    return formatter.format_text(source)


def format_file(path: Path) -> tuple[str, str]:
    """Return the text of a file as it is, and as it is in its canonical layout.

    Raises
    ------
    RecipeError
        With what is wrong with its syntax or shape.
    UsageError
        If it is no recipe file.
    """
    if path.suffix not in NOTATIONS:
        raise UsageError(f"{path}: a recipe is a {' or '.join(NOTATIONS)} file")
    source = read_source(path)
    return source.text, format_text(source)


def convert(recipe: str | Path, to: Path) -> str:
    """Return a recipe in the notation of the file name ``to``.

    Raises
    ------
    RecipeError
        With what is wrong with its syntax or shape.
    UsageError
        If there is no such recipe, or it says what the other notation has no words for.
    """
    from reasoner.frontends.formatter import Notation
    from reasoner.frontends.formatter import convert as convert_text

    if to.suffix not in NOTATIONS:
        raise UsageError(f"{to}: a recipe is a {' or '.join(NOTATIONS)} file")
    return convert_text(read_source(find_recipe(str(recipe))), Notation.of(to.name))
