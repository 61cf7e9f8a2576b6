"""Semantic versions. From `apiserver/pkg/cel/library/semverlib.go`, and blang/semver v4."""

from __future__ import annotations

import re
from typing import Any, Final

from gen.base import regex
from gen.kubernetes.cel.environment import since, text_work
from gen.kubernetes.cel.values import CelError, Opaque

function = since(33)

_SEMVER: Final = "kubernetes.Semver"
_NUMBER = r"(0|[1-9][0-9]*)"
_FORM = regex(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?")
_MAX: Final = 2**64
_PARTS: Final = 3
_MAX_TEXT: Final = 1000
"""Characters; Python converts no numbers of more than a few thousand digits."""


class _Version:
    """The three numbers and the parts of the pre-release; build metadata have no order."""

    __slots__ = ("numbers", "pre")

    def __init__(self, numbers: tuple[int, ...], pre: tuple[tuple[Any, ...], ...]) -> None:
        self.numbers, self.pre = numbers, pre

    def key(self) -> Any:
        return self.numbers, not self.pre, self.pre

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Version) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


def _parsed(text: str, *, normalize: bool = False) -> _Version:
    if normalize:
        text = _normalized(text)
    match = _FORM.fullmatch(text) if len(text) <= _MAX_TEXT else None
    if not text:
        raise CelError("Version string empty")
    if match is None or any(int(match[part]) >= _MAX for part in (1, 2, 3)):
        raise CelError("No Major.Minor.Patch elements found")
    pre = tuple(map(_part, match[4].split("."))) if match[4] else ()
    if match[5] and not all(match[5].split(".")):
        raise CelError("Build meta data is empty")
    return _Version((int(match[1]), int(match[2]), int(match[3])), pre)


def _part(text: str) -> tuple[Any, ...]:
    """Numbers are below texts."""
    if not text:
        raise CelError("Prerelease is empty")
    if text.isdigit():
        if len(text) > 1 and text.startswith("0"):
            raise CelError(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
        return 0, int(text), ""
    return 1, 0, text


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    stripped = [part.lstrip("0") if len(part) > 1 else part for part in parts]
    parts = [
        part if part and part[0].isdigit() else f"0{part}" if len(old) > 1 else part
        for old, part in zip(parts, stripped, strict=True)
    ]
    if len(parts) < _PARTS and re.search(r"[+-]", parts[-1]):
        raise CelError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][:_PARTS]) if len(parts) < _PARTS else ".".join(parts)


@function("semver(string) kubernetes.Semver", "semver(string, bool) kubernetes.Semver", work=text_work)
def _semver(text: str, normalize: bool = False) -> Opaque:
    return Opaque(_SEMVER, _parsed(text, normalize=normalize))


@function("isSemver(string) bool", "isSemver(string, bool) bool", work=text_work)
def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _parsed(text, normalize=normalize)
    except CelError:
        return False
    return True


function("kubernetes.Semver::isGreaterThan(kubernetes.Semver) bool")(
    lambda one, other: bool(one.content.key() > other.content.key())
)
function("kubernetes.Semver::isLessThan(kubernetes.Semver) bool")(
    lambda one, other: bool(one.content.key() < other.content.key())
)


@function("kubernetes.Semver::compareTo(kubernetes.Semver) int")
def _compare(one: Opaque, other: Opaque) -> int:
    first, second = one.content.key(), other.content.key()
    return int(first > second) - int(first < second)


def _number(name: str, index: int) -> None:
    function(f"kubernetes.Semver::{name}() int")(lambda version: version.content.numbers[index])


_number("major", 0)
_number("minor", 1)
_number("patch", 2)
