"""The words and numbers a user may write, each with what was expected when it is something else.

A reader hands over text only (see `gen.load.text`), so each type here says how its text is read. `Text` takes any
scalar and keeps what was written; the JSON Schema forms are for editors, which see typed YAML.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from gen import quantity
from gen.kubernetes import with_hash
from gen.load import Plain

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
DNS_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_DNS_LABEL = re.compile(DNS_LABEL)
JOB_NAME = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?")
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
LABEL_KEY = r"(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
ENV_NAME = r"(?!\.\.|\.$)[A-Za-z_.-][A-Za-z0-9_.-]*"
LABEL_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"
_IMAGE = re.compile(
    r"(?:[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]+:[0-9a-fA-F]{32,})?"
)
_SHOWN = 60
"""Characters of a value that fit into a line of a terminal beside the message."""
_MEBIBYTE = 1 << 20
_MILLI = quantity.amount("1m")
INT32 = 2**31 - 1
"""The operators and the API server keep most numbers in 32 bits."""
_EXPRESSION = {"type": "string", "pattern": r"\{\{"}


def refuse(expected: str, value: object, remedy: str = "") -> PydanticCustomError:
    """The error of every type here: `expected` completes «must be …», `remedy` says what to write."""
    context = {"expected": expected, "shown": shown(value), "remedy": remedy}
    return PydanticCustomError("gen", "must be {expected}, not {shown}", context)


def shown(value: object) -> str:
    """A value in a message: short, and by its form when it has parts."""
    if isinstance(value, (dict, BaseModel)):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    return f"`{clipped(str(value))}`"


def clipped(text: str) -> str:
    """A text that fits into a line."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def empty(value: object) -> bool:
    """True for `key:` with nothing behind it, which is nearly always a forgotten value."""
    return isinstance(value, Plain) and value == ""


def null(value: object) -> bool:
    """True for the words that YAML has for nothing; where any text will do, they are texts like others."""
    return isinstance(value, Plain) and value in ("null", "Null", "NULL", "~")


def _given(value: Any) -> Any:
    if null(value):
        raise refuse("a value", value, "write it, or delete the line; quote it if it is meant as a text")
    return value


def _text(value: Any) -> Any:
    if empty(value):
        raise refuse("some text", value, 'write the value, or "" for an empty one')
    if isinstance(value, (dict, list)):
        raise refuse("a single value", value, "write one text, number or truth value")
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    raise refuse("a whole number", value, "write it in digits, such as `8`")


def _truth(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return value == "true"
    raise refuse("`true` or `false`", value)


def matching(pattern: re.Pattern[str], limit: int, expected: str, remedy: str = "") -> BeforeValidator:
    def check(value: Any) -> Any:
        _given(value)
        if isinstance(value, str) and len(judged := with_hash(value)) <= limit and pattern.fullmatch(judged):
            return value
        raise refuse(expected, value, remedy)

    return BeforeValidator(check)


def _quantity(value: Any) -> Any:
    try:
        text = quantity.canonical(str(_text(value)))
    except ValueError:
        raise refuse("a quantity", value, "write it like `8`, `500m`, `16Gi` or `1Ti`") from None
    if quantity.amount(text) % _MILLI:
        raise refuse("a quantity in steps of `1m`", value, "the API server rounds anything finer; round it yourself")
    return text


def _bytes(value: Any) -> Any:
    text = _quantity(value)
    amount = quantity.amount(text)
    if 0 < amount < _MEBIBYTE:
        raise refuse("an amount of memory of at least 1Mi", value, _with_unit(value))
    if amount % 1:
        raise refuse("a whole number of bytes", value, "write it like `64Gi`")
    return text


def _size(value: Any) -> Any:
    if quantity.amount(_quantity(value)) < _MEBIBYTE:
        raise refuse("a size of at least 1Mi", value, _with_unit(value))
    return _bytes(value)


def _with_unit(value: object) -> str:
    """A bare number is nearly always meant in GiB."""
    return f"did you mean `{value}Gi`?" if str(value).isdecimal() and value != "0" else "write it like `64Gi`"


def _duration(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    try:
        return quantity.seconds(str(_text(value)))
    except ValueError:
        raise refuse("a duration", value, "write it like `12h`, `1d12h`, `90m` or `30s`") from None


def _schema(title: str, *types: str, **more: Any) -> WithJsonSchema:
    """The form for editors; a title in small letters is the word for it in the reference."""
    return WithJsonSchema({"title": title, "type": types[0] if len(types) == 1 else list(types), **more})


def _number(title: str, minimum: int) -> WithJsonSchema:
    return WithJsonSchema({"title": title, "anyOf": [{"type": "integer", "minimum": minimum}, _EXPRESSION]})


Text = Annotated[
    # `~` and `null` are texts here too
    str, BeforeValidator(_text), _schema("text", "string", "number", "boolean", "null")
]
Given = Annotated[Text, BeforeValidator(_given), _schema("text", "string", "number", "boolean")]
"""A text that stands for one thing, so that `null` can only mean that it was left out."""
Count = Annotated[int, BeforeValidator(_whole), _number("number", 0), Field(ge=0, le=INT32)]
Positive = Annotated[int, BeforeValidator(_whole), _number("number from 1", 1), Field(ge=1, le=INT32)]
Port = Annotated[int, BeforeValidator(_whole), _number("port", 1), Field(ge=1, le=65535)]
Truth = Annotated[
    bool,
    BeforeValidator(_truth),
    WithJsonSchema({"title": "true or false", "anyOf": [{"type": "boolean"}, _EXPRESSION]}),
]
Quantity = Annotated[str, BeforeValidator(_quantity), _schema("quantity", "string", "number")]
Bytes = Annotated[str, BeforeValidator(_bytes), _schema("amount of memory", "string", "number")]
Size = Annotated[str, BeforeValidator(_size), _schema("size", "string", "number")]
Duration = Annotated[int, BeforeValidator(_duration), _schema("duration", "string", "integer")]
Label = Annotated[
    str,
    matching(
        _DNS_LABEL,
        63,
        "a name of at most 63 lower-case letters, digits and `-`",
        "start and end it with a letter or a digit",
    ),
    _schema("name", "string", pattern=rf"^{_DNS_LABEL.pattern}$|\{{\{{", maxLength=63),
]
JobName = Annotated[
    str,
    matching(
        JOB_NAME,
        63,
        "a name of at most 63 lower-case letters, digits and `-`, with a letter first",
        "start it with a letter; Services are named after the job",
    ),
    _schema("name", "string", pattern=f"^{JOB_NAME.pattern}$", maxLength=63),
]
ObjectName = Annotated[
    str,
    matching(_DNS_SUBDOMAIN, 253, "a Kubernetes name of lower-case letters, digits, `-` and `.`"),
    _schema("name of an object", "string"),
]
ConfigKey = Annotated[
    str,
    matching(re.compile(r"(?!\.\.)(?!\.$)[-._A-Za-z0-9]+"), 253, "an entry of a Secret or ConfigMap", "name the entry"),
    _schema("entry", "string", "number", "boolean"),
]
LabelKey = Annotated[
    str,
    matching(re.compile(LABEL_KEY), 317, "the key of a label", "write it like `team` or `example.com/team`"),
    _schema("key of a label", "string"),
]
EnvName = Annotated[
    str,
    matching(
        re.compile(ENV_NAME),
        253,
        "the name of a variable",
        "use letters, digits, `_`, `-` and `.`, with no digit and no `..` first",
    ),
    _schema("name of a variable", "string"),
]
ResourceName = Annotated[
    str,
    matching(re.compile(r"(?=.*/)" + LABEL_KEY), 317, "the name of a resource", "write it like `nvidia.com/gpu`"),
    _schema("name of a resource", "string"),
]
LabelValue = Annotated[
    str,
    matching(re.compile(LABEL_VALUE), 63, "the value of a label", "use at most 63 letters, digits, `-`, `_` and `.`"),
    _schema("value of a label", "string", "number", "boolean"),
]
PodField = Annotated[
    str,
    matching(
        re.compile(
            r"metadata\.(name|namespace|uid|(labels|annotations)\['" + LABEL_KEY + r"'\])"
            r"|spec\.(nodeName|serviceAccountName)|status\.(hostIP|hostIPs|podIP|podIPs)"
        ),
        400,
        "a field that a container can be told",
        "write it like `metadata.name`, `metadata.labels['app']`, `spec.nodeName` or `status.podIP`",
    ),
    _schema("field of the pod", "string"),
]
ContainerResource = Annotated[
    str,
    matching(
        re.compile(r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMG]i)"),
        64,
        "a resource that a container can be told",
        "write it like `limits.cpu` or `requests.memory`",
    ),
    _schema("resource of the container", "string"),
]
_MAX_IMAGE = 512


def is_image(text: str) -> bool:
    """Whether a text is an image reference."""
    return len(judged := with_hash(text)) <= _MAX_IMAGE and _IMAGE.fullmatch(judged) is not None


ImageRef = Annotated[
    str,
    matching(_IMAGE, _MAX_IMAGE, "an image reference", "write it like `registry.example.com/team/train:1.2`"),
    _schema("image", "string"),
]
ImageStart = Annotated[
    str,
    matching(
        re.compile(r"(?!.*//)(?:[A-Za-z0-9][-A-Za-z0-9._:/]*)?"),
        256,
        "the start of an image reference",
        "write it like `registry.example.com/mirror/`, without `https://`",
    ),
    _schema("start of an image", "string"),
]
PATH = r"/(?!\.\.(?:/|$))[^\x00-\x1f/:]*"
"""A slash and what follows it in a path that cannot lead out of where it begins; repeat it for all of a path."""
MountPath = Annotated[
    str,
    matching(
        re.compile(rf"(?:{PATH})+"),
        4096,
        "an absolute path without `:` and `..`",
        "start it with `/`, and name the place itself",
    ),
    _schema("absolute path", "string", pattern=r"^/|\{\{"),
]
