"""Replies to typed values: what a model may say for each type, and reading what it said.

A reply is untrusted text. It is read by a ladder of parsers, from strict to lenient; what no
rung reads is a `Misfit`, on which the model is asked again.
"""

import json
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from reasoner.runtime import citations
from reasoner.types import ANSWER, BOOL, NUMBER, TEXT, Type, list_of
from reasoner.values import Candidate

#: Longest reply that is read, in characters; more is cut before anything looks at it.
MAX_REPLY = 200_000
MAX_ITEM = 4_000
_THOUGHT = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*(?:[-*\u2022]|\(?\d{1,3}[.):])\s+(.*\S)", re.MULTILINE)
_ANSWER_TAG = re.compile(r"<answer>(.*?)(?:</answer>|$)", re.DOTALL | re.IGNORECASE)
_FINAL = re.compile(r"^.*final answer\s*\**\s*:\s*\**\s*", re.DOTALL | re.IGNORECASE)

Schema = Mapping[str, Any]


class Misfit(Exception):
    """A reply that cannot be read as the type that was asked for; the text says why."""


@lru_cache(maxsize=1000)
def schema(kind: Type, limit: int | None) -> Schema | None:
    """Return the JSON Schema of replies of a type; None for plain text."""
    if kind == ANSWER:
        return {
            "type": "object",
            "properties": {
                "answer": {"type": "string"},
                "candidates": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
            },
            "required": ["answer"],
            "additionalProperties": False,
        }
    if kind == list_of(TEXT):
        bound = {} if limit is None else {"maxItems": limit}
        items = {"type": "array", "items": {"type": "string"}, "minItems": 1, **bound}
        return {
            "type": "object",
            "properties": {"items": items},
            "required": ["items"],
            "additionalProperties": False,
        }
    return None


def read(kind: Type, text: str, retrieved: AbstractSet[str]) -> object:
    """Return the value that a reply stands for.

    Raises
    ------
    Misfit
        If no rung of the ladder for this type reads the reply.
    """
    text = _THOUGHT.sub("", text[:MAX_REPLY]).strip()
    if not text:
        raise Misfit("the reply is empty")
    if kind == TEXT:
        return text
    if kind == ANSWER:
        return _answer(text, retrieved)
    if kind == list_of(TEXT):
        return _texts(text)
    if kind == NUMBER:
        return _number(text)
    if kind == BOOL:
        return _bool(text)
    raise Misfit(f"a reply cannot be read as {kind}")


def conclusion(text: str) -> str:
    """Return the part of a decoded text that is its answer.

    After the last end-of-think tag, else inside an answer tag, else after a "Final answer"
    marker, else all of it.
    """
    if _THOUGHT.search(text):
        text = _THOUGHT.sub("", text)
    if found := _ANSWER_TAG.search(text):
        text = found.group(1)
    return _FINAL.sub("", text[:MAX_REPLY]).strip()


def _json(text: str) -> object | None:
    """Return the JSON value that a reply is, or holds in a code fence; None if there is none."""
    fenced = _FENCE.search(text)
    for part in (text, fenced.group(1) if fenced else ""):
        try:
            value: object = json.loads(part, parse_constant=_refuse)
            json.dumps(value, ensure_ascii=False).encode()  # refuses lone surrogates
            return value  # noqa: TRY300
        except (ValueError, RecursionError):
            continue
    return None


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON number")


def _answer(text: str, retrieved: AbstractSet[str]) -> object:
    data = _json(text)
    if isinstance(data, dict) and isinstance(data.get("answer"), str):
        names = data.get("candidates")
        listed = [n for n in names if isinstance(n, str)] if isinstance(names, list) else []
        ranked = [
            Candidate(n[:MAX_ITEM], round(1 / rank, 6))
            for rank, n in enumerate(dict.fromkeys(listed), start=1)
        ]
        text, found = data["answer"], tuple(ranked)
    elif data is not None:
        raise Misfit('expected a JSON object with "answer"')
    else:
        text, found = conclusion(text), ()
    if not text.strip():
        raise Misfit("the answer is empty")
    return citations.answer(text, retrieved, found)


def _texts(text: str) -> tuple[str, ...]:
    data = _json(text)
    if isinstance(data, dict):
        data = next((v for v in data.values() if isinstance(v, list)), data)
    if isinstance(data, list):
        items = [i.strip() for i in data if isinstance(i, str)]
    else:
        items = [m.group(1) for m in _NUMBERED.finditer(text)]
    items = [i[:MAX_ITEM] for i in items if i]
    if not items:
        raise Misfit("expected a JSON list of texts, or numbered lines")
    return tuple(dict.fromkeys(items))


def _number(text: str) -> Decimal:
    found = re.search(r"-?\d{1,30}(?:\.\d{1,30})?", text)
    try:
        return Decimal(found.group()) if found else Decimal("x")
    except InvalidOperation:
        raise Misfit("expected a number") from None


def _bool(text: str) -> bool:
    found = re.match(r"\W*(yes|no|true|false)\b", text, re.IGNORECASE)
    if not found:
        raise Misfit("expected yes or no")
    return found.group(1).lower() in {"yes", "true"}
