"""What travels with the package: grammar, recipes and small graphs.

In the repository they lie at the top level; in an installed wheel, under ``reasoner/_bundled``.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def folder(kind: str) -> Path:
    """Return the folder of ``grammars``, ``recipes`` or ``kgs``."""
    packaged = _PACKAGE / "_bundled" / kind
    return packaged if packaged.is_dir() else _PACKAGE.parent / kind


def names(kind: str, *suffixes: str) -> list[str]:
    """Return the names of bundled recipes (by file suffix) or graphs (folders), sorted."""
    place = folder(kind)
    if not place.is_dir():
        return []
    if not suffixes:
        return sorted(p.name for p in place.iterdir() if p.is_dir())
    return sorted({p.stem for p in place.iterdir() if p.suffix in suffixes})
