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
import threading
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self

from reasoner.errors import JournalError

VERSION = 1
_START = "0" * 64
_ENCODE = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(slots=True)
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


#: A flush that takes longer than this is not waited for in the event loop.
QUICK_S = 0.002
#: After so long without a line, the next one is taken for a single one.
IDLE_S = 0.002

_Line = tuple[bytes, "asyncio.Future[None]"]


@dataclass(slots=True)
class Journal:
    """Writes entries to one file; use it as an async context manager.

    Lines that come together are written and flushed to the disk together, and then those who wait
    are woken. A line that comes alone, on a quick disk, is written in the event loop, which is
    sooner done than waking another thread; when many come, or the disk is slow, a writer thread
    takes them, so that a flush holds up nobody who does not wait for it. If writing fails,
    everyone who waits, and everyone who comes later, gets the error: no result is used that is not
    on the disk.
    """

    path: Path | None
    _pending: list[_Line] = field(default_factory=list)
    _queue: "SimpleQueue[list[_Line] | None]" = field(default_factory=SimpleQueue)
    _thread: threading.Thread | None = None
    _flush_s: float = 0.0
    _last: float = 0.0
    _file: int = -1
    _count: int = 0
    _previous: str = _START
    _failed: JournalError | None = None

    async def __aenter__(self) -> Self:
        """Open the file."""
        if self.path is None:
            return self
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # A file that is there already belongs to another run: its chain is not continued.
            fresh = 0 if self.path.is_char_device() else os.O_EXCL
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | fresh
            self._file = os.open(self.path, flags, 0o600)
        except OSError as error:
            raise JournalError(
                f"{self.path}: the journal cannot be written: {error.strerror}; "
                "use --runs DIR for another folder"
            ) from error
        return self

    async def __aexit__(self, *_: object) -> None:
        """Write what waits, then close."""
        self._write_pending()
        if self._thread is not None:
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join)
            self._thread = None
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    async def append(self, entry: Entry) -> None:
        """Write an entry; return when it is on the disk.

        Raises
        ------
        JournalError
            If the file cannot be written, or the entry is no JSON.
        """
        if self._failed is not None:
            raise self._failed
        if self.path is None:
            return
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        try:
            line = self._line(entry)
        except (TypeError, ValueError) as error:
            self._failed = self._failure(str(error))
            raise self._failed from error
        if not self._pending:
            loop.call_soon(self._write_pending)
        self._pending.append((line, done))
        await done

    def _write_pending(self) -> None:
        """Write what has come since the last time, here or in the writer thread."""
        batch, self._pending = self._pending, []
        if not batch:
            return
        alone = time.perf_counter() - self._last > IDLE_S and self._queue.empty()
        if alone and self._flush_s <= QUICK_S:
            self._write(batch)
            self._finish(batch)
            return
        self._last = time.perf_counter()
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._serve, args=(loop,), daemon=True)
            self._thread.start()
        self._queue.put(batch)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """Write until the end is put in the queue; runs in the writer thread."""
        batch: list[_Line] | None = []
        while batch is not None:
            lines: list[_Line] = []
            batch = self._queue.get()
            while batch is not None:
                lines += batch
                if self._queue.empty():
                    break
                batch = self._queue.get()
            self._write(lines)
            with suppress(RuntimeError):  # the loop is closed: no one waits any more
                loop.call_soon_threadsafe(self._finish, lines)

    def _write(self, batch: list[_Line]) -> None:
        """Put lines on the disk; note how long it took, or why it failed."""
        if self._failed is not None or not batch:
            return
        started = time.perf_counter()
        try:
            self._flush(b"".join(line for line, _ in batch))
        except Exception as error:  # whatever it is, no one may wait for ever
            reason = (error.strerror or "") if isinstance(error, OSError) else str(error)
            self._failed = self._failure(reason)
        self._last = time.perf_counter()
        self._flush_s = 0.8 * self._flush_s + 0.2 * (self._last - started)

    def _finish(self, batch: list[_Line]) -> None:
        """Wake those whose lines were written, or tell them that they were not."""
        for _, done in batch:
            if done.done():
                continue  # whoever waited was cancelled
            if self._failed is None:
                done.set_result(None)
            else:
                done.set_exception(self._failed)

    def _failure(self, reason: str) -> JournalError:
        return JournalError(
            f"{self.path}: the journal cannot be written: {reason}; "
            "finished calls could not be kept, so the run stops"
        )

    def _line(self, entry: Entry) -> bytes:
        body = {
            "key": entry.key,
            "kind": entry.kind,
            "n": self._count,
            "parts": entry.parts,
            "prev": self._previous,
            "v": VERSION,
            "value": entry.value,
        }
        text = _ENCODE(body)
        data = text.encode()
        self._previous = hashlib.sha256(data).hexdigest()
        self._count += 1
        return b'%s,"crc":%d}\n' % (data[:-1], zlib.crc32(data))

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
