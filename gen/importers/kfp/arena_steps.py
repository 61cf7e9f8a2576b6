"""Steps that start the launcher of Arena, with its options.

The launcher in pipelines of version 1 is `components/arena/docker/arena_launcher.py` of kubeflow/pipelines 1.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

if TYPE_CHECKING:
    from gen.importers import Fields

_PROGRAM: Final = "arena_launcher.py"
_KINDS: Final = frozenset({"job", "mpijob", "tfjob", "pytorchjob"})
_TRUTHS: Final = frozenset({"--rdma", "--tensorboard"})
_OF_PIPELINE: Final = frozenset(
    {"--output-dir", "--output-data", "--arena-image", "--step-name", "--workflow-name", "--pending-timeout-minutes"}
)
_OF_JOB: Final = {"--cpu": "--worker-cpu", "--memory": "--worker-memory"}
"""Options of a single pod, by those of the launcher."""
_LOGS: Final = "--log-dir"


class ArenaCommand(Struct):
    """A command of Arena, and options of the launcher itself."""

    words: list[str]
    fields: Fields = field(default_factory=dict)
    """Fields of the job."""
    lost: list[str] = field(default_factory=list)


def launcher_of(words: Sequence[str]) -> ArenaCommand | None:
    """The submission of a step; None if it does not run the launcher."""
    start = next((index for index, word in enumerate(words) if word.endswith(_PROGRAM)), None)
    if start is None:
        return None
    options = [*words[start + 1 :]]
    command = options[options.index("--") + 1 :] if "--" in options else []
    options = options[: options.index("--")] if "--" in options else options
    kind = next((word for word in options if word in _KINDS), "job")
    launched = ArenaCommand(["arena", "submit", "tfjob" if kind == "job" else kind])
    _carry(launched, [word for word in options if word != kind], _OF_JOB if kind in ("job", "tfjob") else {})
    text = " ".join(command).strip()
    if not any(char in text for char in "'\"\\\n"):  # blanks of the source of a program
        text = " ".join(text.split())
    launched.words += [text] if command else []
    return launched


def _carry(launched: ArenaCommand, options: list[str], names: Mapping[str, str]) -> None:
    """Options of Arena, some with other names, and those that are fields of a job. A value is behind `=`, or the next
    word. Zero CPU and memory mean none.
    """
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
        elif value and not (name in _OF_JOB and value == "0"):
            launched.words.append(f"{'--logdir' if name == _LOGS else names.get(name, name)}={value}")
            launched.words += ["--sync-mode=git"] if name == "--sync-source" else []
