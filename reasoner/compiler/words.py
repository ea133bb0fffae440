"""Types in the words of messages."""

from reasoner.types import Type


def named(kind: Type) -> str:
    """Return a type with its article: ``a Text``, ``a list (List[Text])``."""
    if kind.name == "List":
        return f"a list ({kind})"
    article = "an" if kind.name[:1] in "AEIO" else "a"
    return f"{article} {kind}"
