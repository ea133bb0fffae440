"""Types in the words of messages."""

from reasoner.types import NOTHING, Type


def named(kind: Type) -> str:
    """Return a type with its article: ``a Text``, ``a list (List[Text])``, ``none``."""
    if kind == NOTHING:
        return "none"
    if kind.name == "List":
        return "a list" if kind.item.is_variable else f"a list ({kind})"
    article = "an" if kind.name[:1] in "AEIO" else "a"
    return f"{article} {kind}"
