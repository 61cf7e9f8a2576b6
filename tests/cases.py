"""Many tiny cases in one test."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    Test = Callable[..., None]


def for_each(
    names: str | Sequence[str], values: Iterable[Any], ids: Callable[[Any], Any] | Iterable[str] | None = None
) -> Callable[[Test], Test]:
    """`pytest.mark.parametrize`, in one test: all cases run, and the failure names each that fails.

    pytest needs several milliseconds for a test, which is more than most cases take. Every case has a `tmp_path` and a
    `repo` of its own; other fixtures are shared by the cases.
    """
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    read = [_case(value, len(arguments)) for value in values]
    cases = [case for case, _ in read]
    named: Iterable[str | None] = [label for _, label in read]
    if ids is not None:
        named = [str(ids(case[0])) for case in cases] if callable(ids) else ids
    labels = [label or _label(case) for label, case in zip(named, cases, strict=True)]
    assert cases, "no cases"

    def decorate(test: Test) -> Test:
        fixtures = [name for name in inspect.signature(test).parameters if name not in arguments]

        @functools.wraps(test)
        def run(**given: Any) -> None:
            failures, skipped = [], []
            for index, (label, case) in enumerate(zip(labels, cases, strict=True)):
                try:
                    test(**_fixtures(given, fixtures, index), **dict(zip(arguments, case, strict=True)))
                except pytest.skip.Exception as reason:
                    skipped.append(f"{label}: {reason}")
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 the other cases run, too
                    error.add_note(f"case: {label}")
                    failures.append((label, error))
            if failures:
                message = f"failed: {', '.join(label for label, _ in failures)}"
                raise BaseExceptionGroup(message, [error for _, error in failures])
            if skipped:
                pytest.skip("; ".join(skipped))

        asked = {"tmp_path" if name == "repo" else name for name in fixtures}
        parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in sorted(asked)]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # read by `inspect.signature`
        return run

    return decorate


def _fixtures(given: dict[str, Any], names: Sequence[str], index: int) -> dict[str, Any]:
    """What pytest gave, with the folder and the repository of one case."""
    if "tmp_path" not in given:
        return given
    folder: Path = given["tmp_path"] / str(index)
    folder.mkdir()
    own = {"tmp_path": folder, "repo": Repository.at(folder / "repo") if "repo" in names else None}
    return {name: own.get(name) or given[name] for name in names}


def _case(value: Any, arguments: int) -> tuple[tuple[Any, ...], str | None]:
    """Arguments of a case, and its name if it is a `pytest.param`."""
    if isinstance(value, type(pytest.param())):
        assert not value.marks, "no marks of single cases"
        return tuple(value.values), value.id if isinstance(value.id, str) else None
    return (value,) if arguments == 1 else tuple(value), None


def _label(case: tuple[Any, ...]) -> str:
    return "-".join(text if len(text := str(value)) <= 80 else f"{text[:79]}…" for value in case)
