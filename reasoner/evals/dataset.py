"""Questions with gold answers, from JSON lines."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reasoner.errors import UsageError
from reasoner.harmless import encodable


@dataclass(frozen=True, slots=True)
class Row:
    """One question: the inputs of the method, the accepted answers, and all fields of the line."""

    number: int
    inputs: Mapping[str, str]
    gold: tuple[str, ...]
    fields: Mapping[str, Any]


def read_questions(path: Path, inputs: tuple[str, ...]) -> list[Row]:
    """Read lines such as ``{"question": "...", "gold": "..."}``; ``gold`` may be a list.

    Raises
    ------
    UsageError
        With the line that is wrong.
    """
    if not path.is_file() and path.exists():
        raise UsageError(f"{path} is no ordinary file")
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        rows.append(_row(path, number, line, inputs))
    if not rows:
        raise UsageError(f"{path}: the file holds no question")
    return rows


def _row(path: Path, number: int, line: str, inputs: tuple[str, ...]) -> Row:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}:{number}: not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise UsageError(f"{path}:{number}: expected an object with the keys question and gold")
    texts = {name: fields.get(name) for name in inputs}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"{path}:{number}: the text {name!r} is missing")
    gold = fields.get("gold", [])
    accepted = tuple(gold) if isinstance(gold, list) else (gold,)
    if not all(isinstance(g, str) and g.strip() for g in accepted):
        raise UsageError(f"{path}:{number}: 'gold' is a text, or a list of texts")
    given = {name: encodable(str(text)) for name, text in texts.items()}
    return Row(number, given, tuple(map(str, accepted)), fields)
