"""Values in another form than gen expects."""

from __future__ import annotations

import pytest

from gen.model.meant import bytes_meant, duration_meant, truth_meant, whole_meant
from gen.model.names import name_meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [("8.0", "8"), ("8,", "8"), ("8 GPUs", "8"), ("1_000", "1000"), ("1,000", "1000"), ("\uff18", "8"), ("1e3", "1000")]
    + [(text, "") for text in ("A100", "0.5", "010", "-1", "three", "1_00", "")],
)
def test_integers(text: str, meant: str) -> None:
    assert whole_meant(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [("yes", "true"), ("True", "true"), ("on", "true"), ("1", "true"), ("NO", "false"), ("maybe", ""), ("2", "")],
)
def test_booleans(text: str, meant: str) -> None:
    assert truth_meant(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [("64GB", "64Gi"), ("64g", "64Gi"), ("64 Gi", "64Gi"), ("64GiB", "64Gi"), ("1.5TB", "1.5Ti"), ("512mb", "512Mi")]
    + [(text, "") for text in ("64", "50%", "64 gigs", "B", "")],
)
def test_amounts_of_memory(text: str, meant: str) -> None:
    assert bytes_meant(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [("12 hours", "12h"), ("12hrs", "12h"), ("12H", "12h"), ("1 day 12 hours", "1d12h"), ("90min", "90m")]
    + [(text, "") for text in ("12:00", "1h 1d", "1w", "0h", "12", "h", "")],
)
def test_durations(text: str, meant: str) -> None:
    assert duration_meant(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [("My_Job", "my-job"), ("llama-3.1", "llama-3-1"), ("a b", "a-b"), ("a,b", ""), ("\u8bad\u7ec3", ""), ("-", "")],
)
def test_names(text: str, meant: str) -> None:
    assert name_meant(text) == meant
