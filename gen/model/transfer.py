"""Fields of a job for files that gen copies into its pods and out of them."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from gen.model.base import Model
from gen.model.names import Label
from gen.model.scalars import Size, matching, schema
from gen.model.synonyms import TRANSFER
from gen.regex import regex

StorePath = Annotated[
    str,
    matching(
        # rclone would resolve `..`, also out of the bucket, and cannot list folders with an empty name
        regex(r"(?!/)(?:(?:^|/)(?!\.{1,2}(?:/|$))[^\x00-\x1f\x7f-\x9f\u2028\u2029/\\]+)+"),
        512,
        "a path without a leading `/`, empty parts, `.` and `..`",
        "use a form like `team/dataset`",
        meant=lambda text: text.strip("/"),
    ),
    schema("relative path", "string"),
]


class Place(Model):
    """Folder of an object store or of a volume."""

    synonyms: ClassVar[Mapping[str, str]] = TRANSFER
    main: ClassVar[str] = "store"

    store: Label | None = None
    """Object store of the overlay."""
    volume: Label | None = None
    """Volume of the overlay, instead of an object store."""
    path: StorePath
    """Folder in the store or volume."""


class Input(Place):
    """Files to copy before the job starts."""

    size: Size | None = None
    """Most bytes that the copy may need on the node's disk; a pod with more is evicted. Defaults to no limit."""


class Output(Place):
    """Where to copy files when the command ends, in a folder with the name of the run."""

    size: Size | None = None
    """Most bytes that the files may need on the node's disk; a pod with more is evicted. Defaults to no limit."""
    pods: Literal["all", "first"] = "all"
    """Pods whose files are copied. With `all`, each of several pods has a folder of its own, such as `worker-0`."""


class Logs(Place):
    """Where to write the output of the command, in a folder with the name of the run."""
