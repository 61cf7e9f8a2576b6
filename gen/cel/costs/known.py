"""Paths, sizes and entries of the values in an expression. From `checker/cost.go` of cel-go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.cel.costs.paths import Path, below
from gen.cel.costs.sizes import ONE, UNKNOWN, Size
from gen.cel.costs.values import Value
from gen.cel.tree import Fold, Ident, ListOf, Literal, MapOf, Node
from gen.cel.types import DYN, Type

if TYPE_CHECKING:
    from gen.cel.checker import Checked
    from gen.cel.costs.declared import Declared

_SCALARS: Final = frozenset({"bool", "int", "uint", "double", "duration", "timestamp"})


class Entries(Struct):
    """Sizes of the keys and values of a list or a mapping that the expression makes."""

    kind: str
    keys: Size
    values: Size


class Variable(Struct):
    """A variable of a loop."""

    path: Path | None
    size: Size | None = None
    entries: Entries | None = None


class Known:
    """Paths, sizes and entries of the parts of an expression, by their identity."""

    def __init__(self, checked: Checked, declared: Declared) -> None:
        self.checked = checked
        self.paths: dict[int, Path | None] = {}
        self.sizes: dict[int, Size] = {}
        self.entries: dict[int, Entries] = {}
        self.unlimited: dict[tuple[str, ...], Declared] = {}
        """The values without a limit that the expression reads, by their route."""
        self._declared = declared
        self._variables: dict[str, list[Variable]] = {}

    def joined(self, size: Size | None, node: Node) -> Size:
        """The size of a value that is one of several."""
        other = self.size(node) or UNKNOWN
        return other if size is None else size.joined(other)

    def push(self, name: str, variable: Variable) -> None:
        """Declare a variable, which hides others of the same name."""
        self._variables.setdefault(name, []).append(variable)

    def pop(self, name: str) -> None:
        """Remove the last variable of a name."""
        self._variables[name].pop()

    def local(self, node: Node) -> Variable:
        """A variable with the value of a part."""
        return Variable(self.path(node), self.size(node), self.entries_of(node))

    def _kind(self, node: Fold) -> str:
        entries = self.entries_of(node.over)
        return entries.kind if entries is not None else self.type_of(node.over).name

    def item(self, node: Fold) -> Variable:
        """The only variable of a loop: an item of a list, or a key of a mapping."""
        return self.entry(node) if self._kind(node) == "list" else self.key(node)

    def key(self, node: Fold) -> Variable:
        """The first of two variables of a loop."""
        entries = self.entries_of(node.over)
        step = "@indices" if self._kind(node) == "list" else "@keys"
        return self._part(node, step, entries.keys if entries is not None else None)

    def entry(self, node: Fold) -> Variable:
        """The second of two variables of a loop."""
        entries = self.entries_of(node.over)
        step = "@items" if self._kind(node) == "list" else "@values"
        return self._part(node, step, entries.values if entries is not None else None)

    def _part(self, node: Fold, step: str, size: Size | None) -> Variable:
        return Variable(below(self.path(node.over), step), size)

    def variable(self, name: str) -> Variable | None:
        """The variable of a loop; None for `self` and `oldSelf`."""
        found = self._variables.get(name)
        return found[-1] if found else None

    def type_of(self, node: Node) -> Type:
        """The type of a part."""
        return self.checked.types.get(id(node), DYN)

    def path(self, node: Node) -> Path | None:
        """The path of a field; None for a value that the expression makes."""
        if isinstance(node, Ident) and (variable := self.variable(node.name)) is not None:
            return variable.path
        return self.paths.get(id(node))

    def value(self, node: Node) -> Value:
        """A part as the argument of a call."""
        return Value(node, self.type_of(node), self.path(node), self.size(node))

    def size(self, node: Node) -> Size | None:
        """The size of a value; None if nothing limits it."""
        if id(node) in self.sizes:
            return self.sizes[id(node)]
        if (own := _own_size(node)) is not None:
            return own
        path = self.path(node)
        if path is not None and (found := self.declared_size(path)) is not None:
            self.sizes[id(node)] = found
            return found
        if _is_scalar(self.type_of(node)):
            return ONE
        variable = self.variable(node.name) if isinstance(node, Ident) else None
        return variable.size if variable is not None else None

    def declared_size(self, path: Path) -> Size | None:
        """The size that the schema allows."""
        route = path.route()
        found = self._declared.at(route)
        if found is None:
            return None
        if found.missing:
            self.unlimited[route] = found
        return Size(0, found.most)

    def entries_of(self, node: Node) -> Entries | None:
        """The entries of a list or a mapping that the expression makes."""
        if id(node) in self.entries:
            return self.entries[id(node)]
        variable = self.variable(node.name) if isinstance(node, Ident) else None
        return variable.entries if variable is not None else None

    def copy(self, node: Node, source: Node) -> None:
        """Give a part the size and the entries of another."""
        if (size := self.size(source)) is not None:
            self.sizes[id(node)] = size
        if (entries := self.entries_of(source)) is not None:
            self.entries[id(node)] = entries

    def join_entries(self, node: Node, one: Entries | None, other: Entries | None) -> None:
        """The entries of a value that has those of two others."""
        if one is not None and other is not None:
            keys, values = one.keys.joined(other.keys), one.values.joined(other.values)
            self.entries[id(node)] = Entries(one.kind, keys, values)


def _own_size(node: Node) -> Size | None:
    """The size of a value that is written in the expression."""
    if isinstance(node, Literal):
        size = len(node.value) if isinstance(node.value, str | bytes) else 1
    elif isinstance(node, ListOf):
        size = len(node.items)
    elif isinstance(node, MapOf):
        size = len(node.entries)
    else:
        return None
    return Size(size, size)


def _is_scalar(one: Type) -> bool:
    return one.name in _SCALARS or (one.name == "optional" and _is_scalar(one.of[0]))
