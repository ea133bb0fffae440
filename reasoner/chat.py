"""Talking to a model: requests, replies, and what a model must be able to do.

A request carries the text for a language model and, beside it, the typed view that the builtin
engine works from. Both describe the same task; a model may use either.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal, Protocol

from reasoner.types import Type
from reasoner.values import Search


class Capability(StrEnum):
    """Something that not every model or server can do."""

    JSON_SCHEMA = "json_schema"
    STOP = "stop"
    CONTINUE = "continue_prefix"
    SEED = "seed"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


# Requests are made by the thousand: they are not frozen only because that triples their cost.
@dataclass(slots=True, kw_only=True)
class View:
    """The typed content of a request.

    Attributes
    ----------
    task
        What the prompt wants done; the known tasks are listed in ``docs/language.md``.
    returns
        The type of the result.
    inputs
        The values that the prompt was given, by name.
    limit
        The most items of a list result.
    tools
        The tools of a dialog with their numbers of arguments.
    searches
        What a dialog has searched so far, in order.
    searches_left
        How many more searches a dialog may run.
    must_answer
        True when the dialog may not search any more and has to conclude.
    """

    task: str
    returns: Type
    inputs: Mapping[str, object]
    limit: int | None = None
    tools: tuple[tuple[str, int], ...] = ()
    searches: tuple[Search, ...] = ()
    searches_left: int = 0
    must_answer: bool = False


@dataclass(slots=True, kw_only=True)
class Request:
    """One model call.

    ``continue_last`` asks the model to go on with the last message, an assistant's, instead of
    answering it.
    """

    messages: tuple[Message, ...]
    view: View
    schema: Mapping[str, Any] | None = None
    stop: tuple[str, ...] = ()
    settings: Mapping[str, Decimal] = field(default_factory=dict)
    seed: int = 0
    continue_last: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call cost; ``estimated`` if the server did not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    estimated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said: ``finish`` is ``stop``, or ``length`` if it was cut."""

    text: str
    finish: str = "stop"
    usage: Usage = Usage()
    model: str = ""


class ChatModel(Protocol):
    """A model behind a role."""

    @property
    def id(self) -> str:
        """The name of the model, part of the key of every recorded call."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do."""
        ...

    @property
    def concurrency(self) -> int:
        """The most calls at one time."""
        ...

    @property
    def tasks(self) -> frozenset[str] | None:
        """The tasks of prompts that it can do; None for a language model, which takes any."""
        ...

    async def complete(self, request: Request, *, timeout_s: float) -> Reply:
        """Return the reply to a request.

        Raises
        ------
        ModelError
            If there is no usable reply; its ``retry`` says whether to try again.
        """
        ...


class Clock(Protocol):
    """Where time comes from, so that tests own it."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...

    def wall(self) -> float:
        """Return seconds since 1970, for display only."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...
