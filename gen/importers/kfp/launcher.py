"""The launcher of Arena in pipelines of version 1.

From `components/arena/docker/arena_launcher.py` of kubeflow/pipelines 1.8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROGRAM: Final = "arena_launcher.py"
_KINDS: Final = frozenset({"job", "mpijob", "tfjob", "pytorchjob"})
_TRUTHS: Final = frozenset({"--rdma", "--tensorboard"})
_OF_PIPELINE: Final = frozenset({"--output-dir", "--output-data", "--arena-image"})
_LOGS: Final = "--log-dir"


class Launched(Struct):
    """A command of Arena, and options of the launcher itself."""

    words: list[str]
    fields: dict[str, Any] = field(default_factory=dict)
    """Fields of the job."""
    lost: list[str] = field(default_factory=list)


def launcher_of(words: Sequence[str]) -> Launched | None:
    """The submission of a step; None if it does not run the launcher."""
    start = next((index for index, word in enumerate(words) if word.endswith(_PROGRAM)), None)
    if start is None:
        return None
    options = [*words[start + 1 :]]
    command = options[options.index("--") + 1 :] if "--" in options else []
    options = options[: options.index("--")] if "--" in options else options
    kind = next((word for word in options if word in _KINDS), "job")
    launched = Launched(["arena", "submit", "tfjob" if kind == "job" else kind])
    _carry(launched, [word for word in options if word != kind])
    launched.words += [" ".join(command)] if command else []
    return launched


def _carry(launched: Launched, options: list[str]) -> None:
    """Options of Arena, and those that are fields of a job. A value is behind `=`, or the next word."""
    left = list(options)
    while left:
        name, equals, value = left.pop(0).partition("=")
        if not equals and left and not left[0].startswith("--"):
            value = left.pop(0)
        if name in _OF_PIPELINE:
            launched.lost.append(name)
        elif name == "--metric" and value:
            launched.fields.setdefault("metrics", []).append(value)
        elif name == "--timeout-hours":
            launched.fields["timeout"] = f"{value}h"
        elif name in _TRUTHS:
            launched.words += [name] if value.lower() in ("true", "1", "") else []
        elif value:
            launched.words.append(f"{'--logdir' if name == _LOGS else name}={value}")
            launched.words += ["--sync-mode=git"] if name == "--sync-source" else []
