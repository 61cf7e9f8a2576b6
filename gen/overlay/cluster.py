"""Fields that say which cluster an overlay renders for, and how live commands reach it."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
import re
from typing import Annotated, ClassVar

from gen.model.base import Model
from gen.model.names import Label
from gen.model.scalars import matching
from gen.model.validators import JsonForm
from gen.regex import regex

ContextName = Annotated[
    str,
    matching(
        regex(r"[\w.@:/+=-]+", re.ASCII),
        253,
        "a name of a context",
        "use a name that `kubectl config get-contexts` shows",
    ),
    JsonForm({"title": "context", "type": "string"}),
]


class Cluster(Model):
    """The cluster of an overlay."""

    main: ClassVar[str] = "name"

    name: Label | None = None
    """Name of the cluster, if several overlays render for it: no two of them may render the same object, such as a
    volume."""
    context: ContextName | None = None
    """Context of the cluster in the kubeconfig file, for `gen status` and other live commands. It has no effect on
    rendered files."""
