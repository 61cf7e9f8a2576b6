"""Type for the facts of changes of existing objects."""

from __future__ import annotations

from msgspec import Struct


class Updates(Struct, frozen=True, kw_only=True, eq=False):
    """Changes of the `spec` of an existing object that the API server accepts. It rejects all others."""

    mutable: tuple[tuple[str, ...], ...] = ()
    added_once: tuple[tuple[str, ...], ...] = ()
    """Immutable fields of objects that have them; other objects can get them."""
    growing: tuple[str, ...] | None = None
    """A quantity that may grow."""
    fixed_with: tuple[str, ...] | None = None
    """A field with which that quantity is immutable, too."""
    empty_is_missing: bool = False
    """Whether empty fields equal missing ones. Otherwise the server sets missing fields, but not empty ones."""
