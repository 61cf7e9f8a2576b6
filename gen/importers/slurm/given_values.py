"""Values that the user gives for variables which the script sets to the output of a program."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from shlex import quote
from typing import TYPE_CHECKING, Final

from gen.base.shell_script import nodes_below, syntax_tree
from gen.importers.draft import is_secret
from gen.importers.slurm.bash_text import MAX_LEVELS
from gen.importers.slurm.grammar_text import for_grammar

if TYPE_CHECKING:
    from tree_sitter import Node


_OUTPUT: Final = "command_substitution"


def _starts_program(value: Node) -> bool:
    return value.type == _OUTPUT or next(nodes_below(value, _OUTPUT), None) is not None


def with_given_values(text: str, values: Mapping[str, str], others: Collection[str] = ()) -> str:
    """A script with the given values of such variables, apart from `others` and secrets, and with the same lines."""
    given = {name for name in values if f"{name}=" in text and not is_secret(name, values[name])} - {*others}
    if not given:
        return text
    source, made, end = text.encode("utf-8", "replace"), bytearray(), 0
    top = syntax_tree(for_grammar(text).encode("utf-8", "replace"), MAX_LEVELS)
    for node in nodes_below(top, "variable_assignment"):
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        known = source[name.start_byte : name.end_byte].decode("utf-8", "replace") if name is not None else ""
        if value is None or value.start_byte < end or known not in given or not _starts_program(value):
            continue
        lines = source[value.start_byte : value.end_byte].count(b"\n")
        made += source[end : value.start_byte] + quote(values[known]).encode() + b"\\\n" * lines
        end = value.end_byte
    return (made + source[end:]).decode("utf-8", "replace")
