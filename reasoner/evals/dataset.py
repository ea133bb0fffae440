"""Questions with gold answers, from JSON lines."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reasoner.errors import UsageError


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
    except ValueError as error:
        raise UsageError(f"{path}:{number}: not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise UsageError(f"{path}:{number}: expected an object with the keys question and gold")
    missing = [name for name in inputs if not isinstance(fields.get(name), str)]
    if missing:
        raise UsageError(f"{path}:{number}: the text {missing[0]!r} is missing")
    gold = fields.get("gold", [])
    accepted = (gold,) if isinstance(gold, str) else tuple(map(str, gold))
    return Row(number, {name: fields[name] for name in inputs}, accepted, fields)
