"""What storage and network profiles have in common: they are named by a key of the overlay."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import model_validator

from gen.model.base import Model


class Profile(Model):
    """One way to do something. Its fields are what the overlay says below the profile's key."""

    short: ClassVar[str] = ""
    """The field that is meant when a scalar stands where the mapping could."""
    grant: ClassVar[str] = ""
    """The word that must be in a namespace's `allow` before its jobs may use it."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        return {cls.short: value} if cls.short and isinstance(value, str) else value
