"""A mapping of another tool. Each value is read, or reported at the end, so that none disappears."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.diagnostics import Location, Route
    from gen.importers.draft import JobDraft


class Record:
    """Fields of a mapping, with the places of their values."""

    def __init__(self, data: Any, place: Callable[[Route], Location], route: Route = ()) -> None:
        self._data = data if isinstance(data, dict) else {}
        self._place, self._route = place, route
        self._read: set[str] = set()
        self._inner: list[Record] = []

    def place(self, *route: str | int) -> Location:
        return self._place((*self._route, *route))

    def take(self, name: str) -> Any:
        """A value; None if it is missing."""
        self._read.add(name)
        return self._data.get(name)

    def text(self, name: str) -> str:
        """A string or a number as text; empty for other types."""
        value = self.take(name)
        return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""

    def number(self, name: str) -> int | None:
        """A number that is not negative, which may be written as text."""
        text = self.text(name)
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None  # noqa: PLR2004 - more is no count

    def record(self, name: str) -> Record:
        """A mapping, which is empty if it is missing."""
        return self._added(self.take(name), name)

    def records(self, name: str) -> list[Record]:
        """The mappings of a list."""
        values = self.take(name)
        return [self._added(one, name, number) for number, one in enumerate(values if isinstance(values, list) else ())]

    def texts(self, name: str) -> list[str]:
        values = self.take(name)
        return [str(one) for one in values] if isinstance(values, list) else []

    def has(self, name: str) -> bool:
        return self._data.get(name) not in (None, "", [], {})

    def _added(self, value: Any, *route: str | int) -> Record:
        inner = Record(value, self._place, (*self._route, *route))
        self._inner.append(inner)
        return inner

    def own_unread(self) -> Iterator[tuple[str, Location]]:
        """`unread`, without the values of inner mappings."""
        for name, value in self._data.items():
            if name not in self._read and value not in (None, "", [], {}):
                yield str(name), self.place(str(name))

    def unread(self) -> Iterator[tuple[str, Location]]:
        """Names of values that nothing has read, with their places."""
        yield from self.own_unread()
        for inner in self._inner:
            yield from inner.unread()

    def report(self, draft: JobDraft, reasons: dict[str, tuple[str, str]]) -> None:
        """Report each value that nothing has read; `reasons` has the reason and the remedy by its name."""
        for name, place in self.unread():
            why, hint = reasons.get(name, ("it has no field", "check whether the job needs it"))
            draft.drop(place, f"`{name}`", why, hint)
