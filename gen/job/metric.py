"""Metrics that a program prints: their names, their formats, and the text around their values.

The regular expressions are valid in Python and in RE2, which Go and Katib use.
"""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Literal, get_args

from msgspec import Struct
from pydantic import AfterValidator, Field, WithJsonSchema

from gen.base import did_you_mean, regex
from gen.job.model import OrMapping, Part
from gen.job.scalars import Given, ValueType, conflict, matching, refuse, schema, shown
from gen.job.synonyms import METRIC

MetricFormat = Literal["raw", "percentage"]
_FORMATS: tuple[MetricFormat, ...] = get_args(MetricFormat)
_NAME = regex(r"[A-Za-z0-9_][A-Za-z0-9_./@%+-]*")
_MAX_NAME = 63
_MAX_PATTERN = 200
_MAX_METRICS = 64
_NAME_PLACE, _VALUE_PLACE = "{name}", "{value}"
_VALUE = r"(?P<value>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
_BEFORE = r"(?:^|[^A-Za-z0-9_./@%+-])"
"""So that `loss` is not found in `val/loss=1`."""
_BETWEEN = r"""["']?\s*[=:]\s*["']?"""
"""`name=value`, `name: value` and `"name": value`."""


def _format(value: object) -> object:
    """The Pipelines SDK of Arena writes `PERCENTAGE` and `RAW`."""
    if not isinstance(value, str) or not _known_format(value):
        guess = did_you_mean(value.lower(), _FORMATS) if isinstance(value, str) else ""
        raise refuse("`raw` or `percentage`", value, guess or "write one of the two words")
    return value.lower()


def _known_format(value: str) -> bool:
    return value in {*_FORMATS, *(name.upper() for name in _FORMATS)}


def _pattern(value: str) -> str:
    """A pattern is a text, and not a regular expression: nothing in it can take a reader exponential time."""
    if value.count(_VALUE_PLACE) != 1 or value.count(_NAME_PLACE) > 1:
        raise refuse("a text with `{value}` once and `{name}` at most once", value, "write it like `{name} is {value}`")
    if len(value) > _MAX_PATTERN or ";" in value or not value.isprintable():
        raise refuse(f"at most {_MAX_PATTERN} printable characters without `;`", value, "write the part near the value")
    return value


def _short(value: object) -> object:
    """`name`, or `name:FORMAT` as in the Pipelines SDK of Arena."""
    name, colon, form = str(value).rpartition(":")
    if isinstance(value, (dict, list)) or not _fits(name if colon else str(value)):
        raise refuse(_EXPECTED, value, _REMEDY)
    if colon and not _known_format(form):
        remedy = did_you_mean(f"{name}:{form.lower()}", [f"{name}:{known}" for known in _FORMATS])
        raise refuse("the format `raw` or `percentage` after `:`", value, remedy)
    return value


def _fits(name: str) -> bool:
    return len(name) <= _MAX_NAME and _NAME.fullmatch(name) is not None


_EXPECTED = "the name of a metric"
_REMEDY = f"use at most {_MAX_NAME} letters, digits, `_`, `.`, `/`, `@`, `%`, `+` and `-`, such as `loss`"
MetricName = Annotated[
    str,
    matching(_NAME, _MAX_NAME, _EXPECTED, _REMEDY, form=schema("metric", "string", pattern=f"^{_NAME.pattern}$")),
]
MetricText = Annotated[
    str,
    ValueType(_short, schema("metric", "string", pattern=f"^{_NAME.pattern}(:(raw|percentage|RAW|PERCENTAGE))?$")),
]

LinePattern = Annotated[Given, AfterValidator(_pattern), WithJsonSchema(schema("text", "string"))]


class Metric(Part):
    """Metric that the program prints."""

    synonyms: ClassVar[Mapping[str, str]] = METRIC
    main: ClassVar[str] = "name"

    name: MetricName
    """Name of the metric, as printed."""
    format: Annotated[MetricFormat, ValueType(_format)] = "raw"
    """How to show the number. `percentage` shows 0.93 as 93 %."""
    pattern: LinePattern | None = None
    """Text of the line that has the value, with `{value}` in place of the number and `{name}` in place of the name,
    such as `{name} is {value}`. A blank matches any number of blanks. [default: `{name}={value}`, `{name}: {value}`
    and `"{name}": {value}`]"""


class KnownMetric(Struct, frozen=True, kw_only=True):
    """A metric in its long form."""

    name: str
    format: str
    pattern: str | None = None

    @property
    def named_first(self) -> bool:
        """Whether the name is printed, and before the value."""
        text = self.pattern
        return text is None or -1 < text.find(_NAME_PLACE) < text.find(_VALUE_PLACE)

    @property
    def regex(self) -> str:
        """A regular expression with the groups `name`, if it is printed, and `value`."""
        name = f"(?P<name>{re.escape(self.name)})"
        if self.pattern is None:
            return f"{_BEFORE}{name}{_BETWEEN}{_VALUE}"
        parts = re.split(f"({re.escape(_NAME_PLACE)}|{re.escape(_VALUE_PLACE)})", self.pattern)
        places = {_NAME_PLACE: name, _VALUE_PLACE: _VALUE}
        text = "".join(places.get(part) or _literal(part) for part in parts)
        return f"{_BEFORE}{text}" if self.pattern.startswith(_NAME_PLACE) else text


def _literal(text: str) -> str:
    return re.sub(r"(?:\\ )+", lambda _: r"\s+", re.escape(text))


def known_metrics(metrics: Iterable[str | Metric]) -> tuple[KnownMetric, ...]:
    """The metrics of a job, each in its long form."""
    return tuple(map(_known, metrics))


def _known(metric: str | Metric) -> KnownMetric:
    if isinstance(metric, Metric):
        return KnownMetric(name=metric.name, format=metric.format, pattern=metric.pattern)
    name, colon, form = metric.rpartition(":")
    return KnownMetric(name=name, format=form.lower()) if colon else KnownMetric(name=metric, format="raw")


def _distinct(metrics: tuple[str | Metric, ...]) -> tuple[str | Metric, ...]:
    names = [metric.name for metric in known_metrics(metrics)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise conflict(f"the metric {shown(twice)} is in the list twice", "remove one of the two")
    return metrics


Metrics = Annotated[
    tuple[OrMapping[MetricText, Metric], ...], Field(max_length=_MAX_METRICS), AfterValidator(_distinct)
]
