"""Scalar types of user input, with their error messages.

The reader returns scalars as text (see `gen.load.strict`), and each type here parses that text. `Text` accepts any
scalar and keeps it as written. The JSON Schema forms are for editors, which see typed YAML.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field
from pydantic_core import PydanticCustomError

from gen import quantity
from gen.kubernetes import readable, with_hash
from gen.load import Plain
from gen.model.meant import binary_bytes, bytes_meant, duration_meant, rounded_up, truth_meant, whole_meant
from gen.model.validators import Before, JsonForm
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable

_WHOLE = regex(r"-?(?:0|[1-9][0-9]{0,99})")
_LONG_DURATION = regex(r"(?:[0-9]+[dhms])*[0-9]{7,}[dhms](?:[0-9]+[dhms])*")
_SHOWN = 60
"""Characters of a value in a message, so that it fits into a line of a terminal."""
_MEBIBYTE = 1 << 20
_MOST_CPUS = 10_000
"""More than any node has: `cpu: 64Gi` is meant as memory."""
_MANY_CPUS = 500
"""From here on, a number without a unit is meant as thousandths: nodes with GPUs have at most 256 CPUs."""
_MANY = 600
"""From here on, a duration without a unit is meant in seconds, as in Kubernetes."""
_MILLI = quantity.amount("1m")
_NOT_WHOLE = "a whole number of bytes"
INT32 = 2**31 - 1
"""Most integers in Kubernetes APIs have 32 bits."""
_EXPRESSION = {"type": "string", "pattern": r"\{\{"}


def refuse(expected: str, value: object, remedy: str = "", *, certain: str = "") -> PydanticCustomError:
    """Error for a value of the wrong type or form. `remedy` defaults to writing the expected value.

    `certain` is the same value in a valid form.
    """
    problem = f"expected {expected}, got {shown(value)}"
    remedy = remedy or f"write {expected}"
    return PydanticCustomError("gen", "{problem}", {"problem": problem, "remedy": remedy, "certain": certain})


def conflict(problem: str, remedy: str) -> PydanticCustomError:
    """Error for fields that contradict each other."""
    return PydanticCustomError("gen", "{problem}", {"problem": problem, "remedy": remedy})


def shown(value: object) -> str:
    """A value as it appears in a message: short, and only the type of a mapping or list."""
    if isinstance(value, (dict, BaseModel)):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    return f"`{visible(clipped(readable(str(value))))}`"


def visible(text: str) -> str:
    r"""The text with `\u3000` and the like for spaces other than the usual one, and for invisible characters."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character if character in "\n\t\r" else f"\\u{ord(character):04x}"


def clipped(text: str) -> str:
    """A text cut to the length of a line."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def empty(value: object) -> bool:
    """Whether the value is absent (`key:`), which is nearly always a mistake."""
    return isinstance(value, Plain) and value == ""


def null(value: object) -> bool:
    """Whether the value is one of YAML's spellings of null. `Text` accepts them as strings."""
    return isinstance(value, Plain) and value in ("null", "Null", "NULL", "~")


def _given(value: Any) -> Any:
    if null(value):
        raise refuse("a value", value, "set a value, or delete the line; quote it to get a string")
    return value


def _text(value: Any) -> Any:
    if empty(value):
        raise refuse("a string", value, 'set a value, or write `""` for an empty string')
    if isinstance(value, (dict, list)):
        raise refuse("a string", value, "write a single string, number or boolean")
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    meant = whole_meant(str(value)) if isinstance(value, str) else ""
    hint = "remove the leading `0`" if re.fullmatch(r"0[0-9]+", str(value)) else "write digits, such as `8`"
    certain = "" if re.search(",[0-9]", str(value)) else meant  # a comma may also begin a decimal fraction
    raise refuse("an integer", value, f"did you mean `{meant}`?" if meant else hint, certain=certain)


def _truth(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return value == "true"
    meant = truth_meant(str(value)) if isinstance(value, str) else ""
    raise refuse("`true` or `false`", value, f"did you mean `{meant}`?" if meant else "", certain=meant)


def matching(
    pattern: re.Pattern[str],
    limit: int,
    expected: str,
    remedy: str = "",
    meant: Callable[[str], str] = lambda _: "",
) -> Before:
    """Accept strings that match; `meant` makes a valid string of one that does not, for the remedy."""

    @lru_cache(maxsize=1024)  # jobs have the same names
    def fits(text: str) -> bool:
        return len(judged := with_hash(text)) <= limit and pattern.fullmatch(judged) is not None

    def check(value: Any) -> Any:
        _given(value)
        if isinstance(value, str) and fits(value):
            return value
        guess = meant(value) if isinstance(value, str) and len(value) <= limit else ""
        raise refuse(expected, value, f"did you mean `{guess}`?" if guess and fits(guess) else remedy)

    return Before(check)


def _quantity(value: Any) -> Any:
    try:
        text = quantity.canonical(str(_text(value)))
    except ValueError:
        raise refuse("a quantity", value, "use a form like `8`, `500m`, `16Gi` or `1Ti`") from None
    if quantity.amount(text) % _MILLI:
        raise refuse("a multiple of `1m`", value, "round it; the API server rounds smaller fractions up")
    return text


def _cpus(value: Any) -> Any:
    try:
        text = _quantity(value)
    except PydanticCustomError:
        raise refuse("a number of CPUs", value, "use a form like `8` or `500m`") from None
    if quantity.amount(text) > _MOST_CPUS:
        raise refuse(f"at most {_MOST_CPUS} CPUs", value, "use a form like `8` or `500m`; set memory in `memory`")
    if str(value).isdecimal() and int(value) >= _MANY_CPUS:
        hint = f"did you mean `{value}m`? write `{value}000m` for {value} CPUs"
        raise refuse(f"less than {_MANY_CPUS} CPUs without a unit", value, hint)
    return text


def _bytes(value: Any) -> Any:
    try:
        text = _quantity(value)
    except PydanticCustomError:
        if (quantity.server_amount(str(value)) or 0) >= quantity.MAX_AMOUNT:
            raise refuse("an amount of memory", value, "use less than 8Ei, in a form like `64Gi`") from None
        hint = _of_bytes(value, "use a form like `64Gi` or `512Mi`")
        certain = binary_bytes(str(value))
        raise refuse("an amount of memory", value, hint, certain=certain if certain != value else "") from None
    amount = quantity.amount(text)
    if 0 < amount < _MEBIBYTE:
        raise refuse("at least `1Mi` of memory", value, _with_unit(value))
    if amount % 1:
        raise refuse(_NOT_WHOLE, value, f"did you mean `{rounded_up(amount)}`?")
    return text


def _size(value: Any) -> Any:
    try:
        text = _bytes(value)
    except PydanticCustomError as error:
        context = error.context or {}
        if _NOT_WHOLE in str(context["problem"]):
            raise
        remedy, certain = str(context["remedy"]), str(context.get("certain", ""))
        raise refuse("a size of at least `1Mi`", value, remedy, certain=certain) from None
    if text == "0":
        raise refuse("a size of at least `1Mi`", value, _with_unit(value))
    return text


def _of_bytes(value: object, otherwise: str) -> str:
    meant = bytes_meant(str(value)) if isinstance(value, str) else ""
    return f"did you mean `{meant}`?" if meant not in ("", value) else otherwise


def _with_unit(value: object) -> str:
    """Remedy for a missing unit; a bare number is nearly always meant in GiB."""
    if str(value).isdecimal() and value != "0":
        return f"did you mean `{value}Gi`?"
    return _of_bytes(value, "use a form like `64Gi`")


def _duration(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    text = str(_text(value))
    if text.isascii() and text.isdecimal() and int(text):
        hint = (
            f"did you mean `{text}h`? write `{text}s` for seconds" if int(text) < _MANY else f"did you mean `{text}s`?"
        )
        raise refuse("a duration with a unit", value, hint)
    try:
        return quantity.seconds(text)
    except ValueError:
        if _LONG_DURATION.fullmatch(text):
            expected = "at most 6 digits before `d`, `h` and `m`, and 9 before `s`"
            raise refuse(expected, value, "decrease it, or remove the line") from None
        meant = duration_meant(text)
        hint = f"did you mean `{meant}`?" if meant else "use a form like `12h`, `1d12h`, `90m` or `30s`"
        certain = "" if "M" in text or ":" in text else meant  # minutes or months, hours or minutes
        raise refuse("a duration", value, hint, certain=certain) from None


def schema(title: str, *types: str, **more: Any) -> JsonForm:
    """JSON Schema for editors. The lower-case title is the name of the type in the reference."""
    return JsonForm({"title": title, "type": types[0] if len(types) == 1 else list(types), **more})


def _number(title: str, minimum: int) -> JsonForm:
    return JsonForm({"title": title, "anyOf": [{"type": "integer", "minimum": minimum}, _EXPRESSION]})


Text = Annotated[
    # `~` and `null` are strings here
    str, Before(_text), schema("string", "string", "number", "boolean", "null")
]
Given = Annotated[Text, Before(_given), schema("string", "string", "number", "boolean")]
"""A string that cannot be null: `~` and `null` count as a missing value."""
Count = Annotated[int, Before(_whole), _number("integer", 0), Field(ge=0, le=INT32)]
Positive = Annotated[int, Before(_whole), _number("positive integer", 1), Field(ge=1, le=INT32)]
Percentage = Annotated[int, Before(_whole), _number("percentage", 1), Field(ge=1, le=100)]
Port = Annotated[int, Before(_whole), _number("port", 1), Field(ge=1, le=65535)]
Truth = Annotated[
    bool,
    Before(_truth),
    JsonForm({"title": "boolean", "anyOf": [{"type": "boolean"}, _EXPRESSION]}),
]
Quantity = Annotated[str, Before(_quantity), schema("quantity", "string", "number")]
Cpus = Annotated[str, Before(_cpus), schema("quantity", "string", "number")]
Bytes = Annotated[str, Before(_bytes), schema("memory", "string", "number")]
Size = Annotated[str, Before(_size), schema("size", "string", "number")]
Duration = Annotated[int, Before(_duration), schema("duration", "string")]
