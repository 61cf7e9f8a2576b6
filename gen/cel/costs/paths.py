"""Paths of values below a variable."""

from __future__ import annotations

from msgspec import Struct


class Path(Struct):
    """A path, which shares its steps with those it was made from, like a slice of Go.

    `checker/cost.go` of cel-go appends to the path of a variable once for each use of it. Where the slice has room, the
    last one wins, and the size of a list becomes that of another field. The verdict of a server depends on it.
    """

    steps: list[str]
    length: int
    room: int

    @classmethod
    def of(cls, name: str) -> Path:
        return cls([name], 1, 1)

    def below(self, step: str) -> Path:
        """The path of a value one step below."""
        if self.length < self.room:
            self.steps[self.length :] = [step]
            return Path(self.steps, self.length + 1, self.room)
        return Path([*self.steps[: self.length], step], self.length + 1, 2 * self.room)

    def route(self) -> tuple[str, ...]:
        """The steps below the variable."""
        return tuple(self.steps[1 : self.length])


def below(path: Path | None, step: str) -> Path:
    """A path one step below another, which may be unknown."""
    return path.below(step) if path is not None else Path.of(step)
