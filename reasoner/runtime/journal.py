"""The journal: every finished model call, durable before it is used.

One append-only file of JSON lines. Each line holds a checksum of its own content and the hash
of the line before, so a torn tail is told from damage in the middle. Many calls that finish at
once share one flush to the disk.

Line: ``{"n": 3, "kind": "call", "key": "<sha256>", "parts": {...}, "value": {...},
"prev": "<sha256>", "crc": 123}``. ``parts`` are hashes of the parts of the key, so that a miss
can say which part changed. Keys and secrets of providers are never written.
"""

import asyncio
import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from reasoner.errors import JournalError

VERSION = 1
_START = "0" * 64


@dataclass(frozen=True, slots=True)
class Entry:
    """One finished thing."""

    kind: str
    key: str
    parts: Mapping[str, str]
    value: Mapping[str, Any]


def key_of(parts: Mapping[str, str]) -> str:
    """Return the key that the parts make together."""
    text = "".join(f"{name} {len(part)} {part}\n" for name, part in sorted(parts.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def digest(text: str) -> str:
    """Return the hash of one part of a key."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True)
class Journal:
    """Writes entries to one file; use it as an async context manager.

    A writer task takes all entries that wait, writes them, flushes them to the disk once, and
    wakes those who wait. If writing fails, everyone who waits, and everyone who comes later,
    gets the error: no result is used that is not on the disk.
    """

    path: Path | None
    _waiting: list[tuple[Entry, asyncio.Future[None]]] = field(default_factory=list)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _writer: asyncio.Task[None] | None = None
    _file: int = -1
    _count: int = 0
    _previous: str = _START
    _failed: JournalError | None = None
    _closing: bool = False

    async def __aenter__(self) -> Self:
        """Open the file and start writing."""
        if self.path is not None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                flags = (
                    os.O_WRONLY
                    | os.O_CREAT
                    | os.O_APPEND
                    | (os.O_EXCL if not str(self.path).startswith("/dev/") else 0)
                )
                self._file = os.open(self.path, flags, 0o600)
            except OSError as error:
                raise JournalError(
                    f"{self.path}: the journal cannot be written: {error.strerror}; "
                    "use --runs DIR for another folder"
                ) from error
            self._writer = asyncio.get_running_loop().create_task(self._write_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Write what waits, then close."""
        self._closing = True
        self._wake.set()
        if self._writer is not None:
            await self._writer
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    async def append(self, entry: Entry) -> None:
        """Write an entry; return when it is on the disk.

        Raises
        ------
        JournalError
            If the file cannot be written.
        """
        if self._failed is not None:
            raise self._failed
        if self.path is None:
            return
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, done))
        self._wake.set()
        await done

    async def _write_all(self) -> None:
        while not (self._closing and not self._waiting):
            await self._wake.wait()
            self._wake.clear()
            batch, self._waiting = self._waiting, []
            if not batch:
                continue
            try:
                lines = b"".join(self._line(entry) for entry, _ in batch)
                if self._failed is None:
                    await asyncio.to_thread(self._flush, lines)
            except Exception as error:  # whatever it is, no one may wait for ever
                reason = error.strerror if isinstance(error, OSError) else str(error)
                self._failed = JournalError(
                    f"{self.path}: the journal cannot be written: {reason}; "
                    "finished calls could not be kept, so the run stops"
                )
            for _, done in batch:
                if done.done():
                    continue  # whoever waited was cancelled
                if self._failed is None:
                    done.set_result(None)
                else:
                    done.set_exception(self._failed)

    def _line(self, entry: Entry) -> bytes:
        body = {
            "v": VERSION,
            "n": self._count,
            "kind": entry.kind,
            "key": entry.key,
            "parts": dict(entry.parts),
            "value": dict(entry.value),
            "prev": self._previous,
        }
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        self._previous = digest(text)
        self._count += 1
        return f'{text[:-1]},"crc":{zlib.crc32(text.encode())}}}\n'.encode()

    def _flush(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]
        os.fdatasync(self._file)


def read(path: Path) -> tuple[list[Entry], int]:
    """Return the entries of a journal and how many bytes of a torn last line were left out.

    Raises
    ------
    JournalError
        If a line that is not the last is damaged, or the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}") from error
    entries: list[Entry] = []
    previous, at = _START, 0
    while at < len(data):
        end = data.find(b"\n", at)
        line = data[at : end if end >= 0 else len(data)]
        body = _checked(line, previous)
        if body is None or end < 0:
            if end < 0 or end == len(data) - 1:
                return entries, len(data) - at  # torn: the writer died inside this line
            raise JournalError(
                f"{path}: the journal is damaged at byte {at} (line {len(entries) + 1})"
            )
        entries.append(Entry(body["kind"], body["key"], body["parts"], body["value"]))
        previous = digest(_unsealed(line))
        at = end + 1
    return entries, 0


def _unsealed(line: bytes) -> str:
    """Return the text of a line before its checksum was put in."""
    return line[: line.rfind(b',"crc":')].decode("utf-8", "replace") + "}"


def _checked(line: bytes, previous: str) -> dict[str, Any] | None:
    """Return the content of a line, or None if it is not whole."""
    try:
        body = json.loads(line)
        if zlib.crc32(_unsealed(line).encode()) != body.pop("crc"):
            return None
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None
    return body if body.get("prev") == previous else None
