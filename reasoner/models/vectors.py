"""Vectors that were computed before, on disk, by model and text: nothing is embedded twice."""

import hashlib
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

#: Most variables in one SQL statement.
_CHUNK = 500


class VectorCache:
    """A table of text hash -> float32 vector for one model; safe among threads and processes.

    With no folder, or one that cannot be written, vectors are kept in memory only.
    """

    def __init__(self, folder: Path | None, model: str) -> None:
        self._memory: dict[bytes, Any] = {}
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"vectors-{hashlib.sha256(model.encode()).hexdigest()[:16]}.sqlite"
            self._database = sqlite3.connect(path, check_same_thread=False, timeout=30)
            with self._database as table:
                table.execute("PRAGMA journal_mode = WAL")
                table.execute("PRAGMA synchronous = OFF")
                table.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, value BLOB)"
                )
        except (OSError, sqlite3.Error):
            self._database = None

    def get(self, texts: Sequence[str]) -> Mapping[str, Any]:
        """Return the vectors that are known, by text."""
        keys = {text: _key(text) for text in texts}
        with self._lock:
            wanted = {k for k in keys.values() if k not in self._memory}
            if wanted and self._database is not None:
                self._read(self._database, sorted(wanted))
            return {t: self._memory[k] for t, k in keys.items() if k in self._memory}

    def put(self, vectors: Mapping[str, Any]) -> None:
        """Keep vectors, each of shape ``(dim,)``."""
        rows = {_key(text): np.asarray(v, dtype=np.float32) for text, v in vectors.items()}
        with self._lock:
            self._memory |= rows
            if self._database is None:
                return
            try:
                with self._database as table:
                    table.executemany(
                        "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
                        [(key, v.tobytes()) for key, v in rows.items()],
                    )
            except sqlite3.Error:  # a cache that cannot be written is a slower run, not a wrong one
                self._database = None

    def _read(self, table: sqlite3.Connection, keys: Sequence[bytes]) -> None:
        try:
            for at in range(0, len(keys), _CHUNK):
                part = keys[at : at + _CHUNK]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, value FROM vectors WHERE key IN ({marks})"  # noqa: S608 - only '?' is put in
                for key, value in table.execute(query, part):
                    if value and len(value) % 4 == 0:  # a damaged value is computed anew
                        self._memory[key] = np.frombuffer(value, dtype=np.float32)
        except sqlite3.Error:
            self._database = None


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
