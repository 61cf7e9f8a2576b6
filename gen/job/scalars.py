"""Scalar types of user input, with their error messages.

The reader returns scalars as text (see `gen.base.yaml.strict`), and each type here parses that text. `Text` accepts any
scalar and keeps it as written. The JSON Schema forms are for editors, which see typed YAML. For an invalid number,
boolean, amount or duration, the error suggests the same value in the expected form.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_before_validator_function

from gen.base import regex
from gen.base.placeholders import readable, with_hash
from gen.base.yaml.strict import Plain
from gen.kubernetes import quantity

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

_WHOLE_NUMBER = regex(r"(?P<digits>[1-9][0-9]{0,8}|[1-9][0-9]{0,2}(?:[_,][0-9]{3})+|0)(?:\.0+)?(?:[,;]|\s+[A-Za-z]+)?")
_POWER = regex(r"(?P<digits>[1-9][0-9]?)[eE]\+?(?P<zeros>[0-9])")
_TRUTHS = {"true": ("yes", "on", "y", "1", "enabled"), "false": ("no", "off", "n", "0", "disabled")}
_BYTES = regex(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[KMGTP])(?:i?B?|iB|ib|bytes?)", re.IGNORECASE)
_DURATION = regex(r"(?P<number>[0-9]+)\s*(?P<unit>[a-z]+)", re.IGNORECASE)
_CLOCK = regex(r"(?:([0-9]{1,4})-)?([0-9]{1,4}):([0-9]{2}):([0-9]{2})")
"""Days, hours, minutes and seconds, as for Slurm. Of `12:00`, the unit is unclear."""
_DIGITS = 100
_BINARY = {"Ti": 1 << 40, "Gi": 1 << 30, "Mi": 1 << 20}
_UNITS = {
    "d": ("days", "day", "d"),
    "h": ("hours", "hour", "hrs", "hr", "h"),
    "m": ("minutes", "minute", "mins", "min", "m"),
    "s": ("seconds", "second", "secs", "sec", "s"),
}


def intended_integer(text: str) -> str:
    """`8` for `8.0`, `8,`, `8 GPUs`, `1_000` or full-width digits; empty if the number is not obvious."""
    plain = unicodedata.normalize("NFKC", text).strip()
    if (match := _POWER.fullmatch(plain)) is not None:
        return match["digits"] + "0" * int(match["zeros"])
    match = _WHOLE_NUMBER.fullmatch(plain)
    return re.sub(r"[_,]", "", match["digits"]) if match is not None else ""


def intended_boolean(text: str) -> str:
    """`true` for `yes`, `True`, `on` or `1`; empty if it could mean anything else."""
    word = text.strip().lower()
    return next((truth for truth, others in _TRUTHS.items() if word == truth or word in others), "")


def intended_bytes(text: str) -> str:
    """`64Gi` for `64GB`, `64g`, `64 Gi` or `64GiB`; empty without a unit of memory."""
    match = _BYTES.fullmatch(unicodedata.normalize("NFKC", text).strip())
    return f"{match['number']}{match['unit'].upper()}i" if match is not None else ""


def binary_bytes(text: str) -> str:
    """`64Gi` for `64 Gi`, `64gi` or `64GiB`; empty without the `i`, since `64GB` can be less than `64Gi`."""
    return intended_bytes(text) if "i" in text.lower() else ""


def next_binary_size(amount: Decimal) -> str:
    """The next whole number of bytes in a binary unit, with at least three digits, such as `1229Gi` for 1.2Ti."""
    unit, size = next(((unit, size) for unit, size in _BINARY.items() if amount >= _DIGITS * size), ("Mi", 1 << 20))
    return f"{ceil(amount / size)}{unit}"


def intended_duration(text: str) -> str:
    """`12h` for `12 hours`, `12hrs` or `12H`, `1d12h` for `1 day 12 hours` or `1-12:00:00`; empty for anything else."""
    plain = unicodedata.normalize("NFKC", text).strip()
    if (match := _CLOCK.fullmatch(plain)) is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        return quantity.duration(whole) if whole else ""
    if _DURATION.sub("", plain).strip(" ,"):
        return ""
    parts = [(match["number"].lstrip("0"), _unit(match["unit"])) for match in _DURATION.finditer(plain)]
    order = [list(_UNITS).index(unit) for _, unit in parts if unit]
    if not parts or len(order) < len(parts) or order != sorted(set(order)) or not all(number for number, _ in parts):
        return ""
    return "".join(f"{number}{unit}" for number, unit in parts)


def _unit(word: str) -> str:
    return next((unit for unit, words in _UNITS.items() if word.lower() in words), "")


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
    problem = f"expected {expected}, got {shown(value) if value != '' else 'an empty string'}"
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


def _given(value: object) -> object:
    if null(value):
        raise refuse("a value", value, "set a value, or delete the line; quote it to get a string")
    return value


def _text(value: object) -> object:
    if empty(value):
        raise refuse("a string", value, 'set a value, or write `""` for an empty string')
    if isinstance(value, (dict, list)):
        raise refuse("a string", value, "write a single string, number or boolean")
    return value


def _whole(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    meant = intended_integer(str(value)) if isinstance(value, str) else ""
    hint = "remove the leading `0`" if re.fullmatch(r"0[0-9]+", str(value)) else "write digits, such as `8`"
    certain = "" if re.search(",[0-9]", str(value)) else meant  # a comma may also begin a decimal fraction
    raise refuse("an integer", value, f"did you mean `{meant}`?" if meant else hint, certain=certain)


def _truth(value: object) -> object:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return value == "true"
    meant = intended_boolean(str(value)) if isinstance(value, str) else ""
    raise refuse("`true` or `false`", value, f"did you mean `{meant}`?" if meant else "", certain=meant)


Form = dict[str, Any]
"""A JSON Schema."""


class ValueType:
    """Annotation of a type of values: how they are read from a file, and their JSON Schema for editors.

    pydantic's manual calls it a custom type. A `BeforeValidator` takes longer, because pydantic inspects its signature
    again for every field.
    """

    def __init__(self, read: Callable[[object], object], form: Form | None = None, **limits: int) -> None:
        """`read` returns the value, or raises `refuse`. The form is that of the annotated type if it is None, and
        `limits` are added to that type.
        """
        self.read = read
        self.form = form
        self.limits = limits

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        value: Any = {**handler(source), **self.limits}
        return no_info_before_validator_function(self.read, value)

    def __get_pydantic_json_schema__(self, value: CoreSchema, handler: GetJsonSchemaHandler) -> Form:
        return handler(value) if self.form is None else {**self.form}


def matching(
    pattern: re.Pattern[str],
    limit: int,
    expected: str,
    remedy: str = "",
    meant: Callable[[str], str] = lambda _: "",
    form: Form | None = None,
) -> ValueType:
    """Accept strings that match; `meant` makes a valid string of one that does not, for the remedy."""

    @lru_cache(maxsize=1024)  # jobs have the same names
    def fits(text: str) -> bool:
        return len(judged := with_hash(text)) <= limit and pattern.fullmatch(judged) is not None

    def check(value: object) -> object:
        _given(value)
        if isinstance(value, str) and fits(value) and not empty(value):
            return value
        guess = meant(value) if isinstance(value, str) and len(value) <= limit else ""
        raise refuse(expected, value, f"did you mean `{guess}`?" if guess and fits(guess) else remedy)

    return ValueType(check, form)


def _quantity(value: object) -> object:
    try:
        text = quantity.canonical(str(_text(value)))
    except ValueError:
        raise refuse("a quantity", value, "use a form like `8`, `500m`, `16Gi` or `1Ti`") from None
    if quantity.amount(text) % _MILLI:
        raise refuse("a multiple of `1m`", value, "round it; the API server rounds smaller fractions up")
    return text


def _cpus(value: object) -> object:
    try:
        text = _quantity(value)
    except PydanticCustomError:
        raise refuse("a number of CPUs", value, "use a form like `8` or `500m`") from None
    if quantity.amount(text) > _MOST_CPUS:
        raise refuse(f"at most {_MOST_CPUS} CPUs", value, "use a form like `8` or `500m`; set memory in `memory`")
    if str(value).isdecimal() and int(str(value)) >= _MANY_CPUS:
        hint = f"did you mean `{value}m`? write `{value}000m` for {value} CPUs"
        raise refuse(f"less than {_MANY_CPUS} CPUs without a unit", value, hint)
    return text


def _bytes(value: object) -> object:
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
        raise refuse(_NOT_WHOLE, value, f"did you mean `{next_binary_size(amount)}`?")
    return text


def _size(value: object) -> object:
    try:
        text = _bytes(value)
    except PydanticCustomError as error:
        context = error.context or {}
        if _NOT_WHOLE in str(context["problem"]):
            raise
        remedy, certain = str(context["remedy"]), str(context.get("certain", ""))
        expected = "a size of at least `1Mi`" if "at least" in str(context["problem"]) else "a size"
        raise refuse(expected, value, remedy, certain=certain) from None
    if text == "0":
        raise refuse("a size of at least `1Mi`", value, _with_unit(value))
    return text


def _of_bytes(value: object, otherwise: str) -> str:
    meant = intended_bytes(str(value)) if isinstance(value, str) else ""
    if meant and "i" not in str(value).lower() and "b" in str(value).lower():  # `64GB` may mean both
        return f"did you mean `{meant.removesuffix('i')}` or `{meant}`?"
    return f"did you mean `{meant}`?" if meant not in ("", value) else otherwise


def _with_unit(value: object) -> str:
    """Remedy for a missing unit; a bare number is nearly always meant in GiB."""
    if str(value).isdecimal() and value != "0":
        return f"did you mean `{value}Gi`?"
    return _of_bytes(value, "use a form like `64Gi`")


def _duration(value: object) -> object:
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
        meant = intended_duration(text)
        hint = f"did you mean `{meant}`?" if meant else "use a form like `12h`, `1d12h`, `90m` or `30s`"
        certain = "" if "M" in text or ":" in text else meant  # minutes or months, hours or minutes
        raise refuse("a duration", value, hint, certain=certain) from None


def schema(title: str, *types: str, **more: object) -> Form:
    """JSON Schema for editors. The lower-case title is the name of the type in the reference."""
    return {"title": title, "type": types[0] if len(types) == 1 else list(types), **more}


def _number(title: str, minimum: int) -> Form:
    return {"title": title, "anyOf": [{"type": "integer", "minimum": minimum}, _EXPRESSION]}


Text = Annotated[
    # `~` and `null` are strings here
    str, ValueType(_text, schema("string", "string", "number", "boolean", "null"))
]
Given = Annotated[Text, ValueType(_given, schema("string", "string", "number", "boolean"))]
"""A string that cannot be null: `~` and `null` count as a missing value."""
Count = Annotated[int, ValueType(_whole, _number("integer", 0), ge=0, le=INT32)]
Positive = Annotated[int, ValueType(_whole, _number("positive integer", 1), ge=1, le=INT32)]
Percentage = Annotated[int, ValueType(_whole, _number("percentage", 1), ge=1, le=100)]
Port = Annotated[int, ValueType(_whole, _number("port", 1), ge=1, le=65535)]
Truth = Annotated[bool, ValueType(_truth, {"title": "boolean", "anyOf": [{"type": "boolean"}, _EXPRESSION]})]
Quantity = Annotated[str, ValueType(_quantity, schema("quantity", "string", "number"))]
Cpus = Annotated[str, ValueType(_cpus, schema("quantity", "string", "number"))]
Bytes = Annotated[str, ValueType(_bytes, schema("memory", "string", "number"))]
Size = Annotated[str, ValueType(_size, schema("size", "string", "number"))]
Duration = Annotated[int, ValueType(_duration, schema("duration", "string"))]


_AMOUNT: Final = regex(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


def _amount(value: object) -> object:
    if isinstance(value, str) and _AMOUNT.fullmatch(value):
        return Decimal(value)
    text = str(value).replace(" ", "") if isinstance(value, str) else ""
    meant = next((one for one in (text.replace(",", "."), text.strip("$€£¥"), text[:-3]) if _AMOUNT.fullmatch(one)), "")
    raise refuse("an amount of money", value, f"did you mean `{meant}`?" if meant else "use a form like `2.50`")


Price = Annotated[Decimal, ValueType(_amount, schema("amount", "number", "string"))]
"""An amount of money, without its currency."""
Currency = Annotated[
    str,
    matching(
        regex("[A-Z]{3}"),
        3,
        "a code of a currency",
        "use a form like `EUR`",
        meant=lambda text: text.upper() if text.upper() != text else "",
        form={"title": "currency", "type": "string", "pattern": "^[A-Z]{3}$"},
    ),
]
