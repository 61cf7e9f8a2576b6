"""Validators of single kinds, of which several are compiled together."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema_rs import Draft202012Validator, ValidationError


class KindValidator:
    """Validates objects of one kind, as a validator of jsonschema-rs does."""

    def __init__(self, together: Draft202012Validator, name: str, alone: Callable[[], Draft202012Validator]) -> None:
        """`together` takes the objects of several kinds, each as a field with the `name` of its kind."""
        self._together = together
        self._name = name
        self._compile = alone

    def is_valid(self, body: Any) -> bool:
        return self._together.is_valid({self._name: body})

    def iter_errors(self, body: Any) -> Iterator[ValidationError]:
        """The errors, with routes in the object."""
        return self._alone.iter_errors(body)

    @cached_property
    def _alone(self) -> Draft202012Validator:
        return self._compile()
