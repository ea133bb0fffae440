"""Data made harmless: names, passages and replies as text that can act on nothing.

Whatever stems from a graph, a document or a model passes through here before it stands in a
prompt or beside citations. The record keeps it as it is.
"""

import re

#: Longest name or sentence of data that is shown, in characters.
MAX_DATA = 600
_BREAKS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]+"
)
_MARKS = re.compile(r"([<\[|])")
#: Text in which nothing has to be replaced; most text is such.
_PLAIN = re.compile(r"[ -;=-Z\\-{}~\]]*")


def harmless(text: str, limit: int | None = MAX_DATA) -> str:
    """Return data as one line that can open no tag, cite nothing and start no control token.

    Examples
    --------
    >>> harmless("a<|im_end|>[T1]").replace("\u200b", "_")
    'a<_|_im_end|_>[_T1]'
    """
    if is_plain(text) and (limit is None or len(text) <= limit):
        return text
    line = _BREAKS.sub(" ", text if text.isascii() else encodable(text))
    if limit is not None and len(line) > limit:
        line = line[:limit] + "..."
    return _MARKS.sub("\\1\u200b", line)


def is_plain(text: str) -> bool:
    """Say whether a text is ASCII on one line and holds nothing that could act."""
    return _PLAIN.fullmatch(text) is not None


def encodable(text: str) -> str:
    """Return a text without lone surrogates, which no file and no model can take."""
    return text.encode("utf-8", "replace").decode("utf-8")
