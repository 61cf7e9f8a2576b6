"""The record of a run: a digest of what the job file says of it, in the first line of the rendered run.

It tells whether a committed run is still the one that its job describes, independently of the overlay and of the
version of gen. It covers the text of the file's values, not what a model reads from them, so that a new version of gen
computes the same digest.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import orjson

if TYPE_CHECKING:
    from typing import Any

    from gen.load import Data

NOT_PART_OF_RUN: Final = frozenset({"state", "labels", "annotations", "metrics", "tensorboard", "name"})
"""Fields of a job that never start a new run, and the name, which counts as the name of the run."""
_LENGTH: Final = 32
"""Hexadecimal digits of the digest: authors choose the content, so it must withstand a search for collisions."""
_ORDERED: Final = "env"
"""Variables can refer to earlier ones, so their order counts. The order of all other mappings has no meaning."""


def job_digest(run: str, data: Data) -> str:
    """Digest of a job file for the run with this name."""
    fields = data if isinstance(data, dict) else {}
    content = {name: _ordered(value, name) for name, value in fields.items() if name not in NOT_PART_OF_RUN}
    text = orjson.dumps([run, content], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()[:_LENGTH]


def _ordered(value: Data, name: str = "") -> Any:
    """The value with a list of pairs instead of each mapping whose order counts."""
    if isinstance(value, dict):
        inner = {key: _ordered(item, key) for key, item in value.items()}
        return list(inner.items()) if name == _ORDERED else inner
    return [_ordered(item) for item in value] if isinstance(value, list) else value
