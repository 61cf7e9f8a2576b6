"""Values in another form than gen expects."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from gen.job.names import name_meant
from gen.job.scalars import (
    Duration,
    Size,
    intended_boolean,
    intended_bytes,
    intended_duration,
    intended_integer,
    next_binary_size,
)
from gen.kubernetes import quantity
from tests.cases import for_each


@for_each(
    ("text", "meant"),
    [("8.0", "8"), ("8,", "8"), ("8 GPUs", "8"), ("1_000", "1000"), ("1,000", "1000"), ("\uff18", "8"), ("1e3", "1000")]
    + [(text, "") for text in ("A100", "0.5", "010", "-1", "three", "1_00", "")],
)
def test_integers(text: str, meant: str) -> None:
    assert intended_integer(text) == meant


@for_each(
    ("text", "meant"),
    [("yes", "true"), ("True", "true"), ("on", "true"), ("1", "true"), ("NO", "false"), ("maybe", ""), ("2", "")],
)
def test_booleans(text: str, meant: str) -> None:
    assert intended_boolean(text) == meant


@for_each(
    ("text", "meant"),
    [("64GB", "64Gi"), ("64g", "64Gi"), ("64 Gi", "64Gi"), ("64GiB", "64Gi"), ("1.5TB", "1.5Ti"), ("512mb", "512Mi")]
    + [(text, "") for text in ("64", "50%", "64 gigs", "B", "")],
)
def test_amounts_of_memory(text: str, meant: str) -> None:
    assert intended_bytes(text) == meant


@pytest.mark.parametrize(("amount", "meant"), [("1.2Ti", "1229Gi"), ("1.1Mi", "2Mi"), ("0.3Ti", "308Gi")])
def test_fractions_of_bytes_are_rounded_up(amount: str, meant: str) -> None:
    assert next_binary_size(quantity.amount(amount)) == meant
    with pytest.raises(ValidationError, match=f"a whole number of bytes, got `{amount}`"):
        TypeAdapter(Size).validate_python(amount)


@pytest.mark.parametrize("text", ["99999999999h", "0.0005Gi", "1.0000000001Gi"])
def test_no_value_is_suggested_for_itself(text: str) -> None:
    for kind in (Duration, Size):
        with pytest.raises(ValidationError) as raised:
            TypeAdapter(kind).validate_python(text)
        (error,) = raised.value.errors()
        assert f"`{text}`" not in error["ctx"]["remedy"]
        assert error["ctx"]["certain"] == ""


@for_each(
    ("text", "meant"),
    [("12 hours", "12h"), ("12hrs", "12h"), ("12H", "12h"), ("1 day 12 hours", "1d12h"), ("90min", "90m")]
    + [("12:00:00", "12h"), ("1-12:00:00", "1d12h"), ("00:30:05", "30m5s")]
    + [(text, "") for text in ("12:00", "0:00:00", "1h 1d", "1w", "0h", "12", "h", "")],
)
def test_durations(text: str, meant: str) -> None:
    assert intended_duration(text) == meant


@for_each(
    ("text", "meant"),
    [("My_Job", "my-job"), ("llama-3.1", "llama-3-1"), ("a b", "a-b"), ("a,b", ""), ("\u8bad\u7ec3", ""), ("-", "")],
)
def test_names(text: str, meant: str) -> None:
    assert name_meant(text) == meant
