"""Quantities and durations, in the forms that the API server writes."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen.kubernetes.quantity import MAX_AMOUNT, amount, canonical, in_thousandths, seconds, server_amount
from tests.cases import for_each


@for_each(
    ("text", "expected"),
    [
        ("1", "1"),
        ("0", "0"),
        ("0Gi", "0"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("1.5", "1500m"),
        ("1000", "1k"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("312.5Ki", "320k"),
        ("0.5Ki", "512"),
        ("200Gi", "200Gi"),
        ("2048Gi", "2Ti"),
        ("1e3", "1k"),
        ("1E", "1E"),
        ("0.1n", "1n"),
        ("100n", "100n"),
        ("12", "12"),
    ],
)
def test_one_form_for_one_amount(text: str, expected: str) -> None:
    assert canonical(text) == expected


@given(st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|m|k|M|G)?", fullmatch=True))
def test_the_form_keeps_the_amount_and_is_its_own_form(text: str) -> None:
    form = canonical(text)
    assert amount(form) == amount(text) or amount(text) % Decimal("0.001")
    assert canonical(form) == form


@for_each("text", ["", "1GB", "-1", "1 Gi", "Gi", "1Gii", "1e1000", "1e-100", "NaN", "1" * 40, "\u0661", "+1", "."])
def test_an_invalid_quantity_in_a_job_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid quantity"):
        amount(text)


def test_a_quantity_beyond_64_bits_is_refused() -> None:
    assert amount(str(MAX_AMOUNT)) == MAX_AMOUNT
    with pytest.raises(ValueError, match="64 bits"):
        amount("8Ei")


@for_each(
    ("value", "expected"),
    [
        (8, "8"),
        (0.5, "0.5"),
        (" 16Gi ", str(16 * 2**30)),
        ("-1", "-1"),
        ("+1k", "1000"),
        (".", "0"),
        ("Ki", "0"),
        ("0.1n", "1e-9"),
        ("1e-100", "1e-9"),
        ("1e100", "1e100"),
        ("16Ei", str(MAX_AMOUNT)),
    ],
)
def test_an_api_server_reads_more_forms_and_rounds_them_up(value: object, expected: str) -> None:
    assert server_amount(value) == Decimal(expected)


@for_each("value", ["", "1GB", "1 Gi", "1Gii", "1e1000", "NaN", "1" * 201, "\u0661", "--1"])
def test_an_api_server_refuses_an_invalid_quantity(value: str) -> None:
    assert server_amount(value) is None


@given(st.from_regex(r"([0-9]{1,6}(\.[0-9]{1,3})?|\.[0-9]{1,3})(Ki|Mi|Gi|Ti|n|u|m|k|M|G|[eE]-?[0-9])?", fullmatch=True))
def test_both_levels_read_the_same_number(text: str) -> None:
    exact, read = amount(text), server_amount(text)
    assert read is not None
    assert 0 <= read - exact < Decimal("1e-9")


def test_a_list_of_resources_keeps_thousandths() -> None:
    assert in_thousandths("1n") == Decimal("0.001")
    assert in_thousandths("none") is None


@for_each(("text", "expected"), [("90", 90), ("30s", 30), ("12h", 43200), ("1d12h", 129600), ("1h30m5s", 5405)])
def test_durations(text: str, expected: int) -> None:
    assert seconds(text) == expected


@for_each("text", ["", "0", "0h", "h", "1w", "12 h", "-1h", "1.5h", "5m1h"])
def test_an_invalid_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        seconds(text)
