"""The nodes of a YAML text, for the places of its values."""

from __future__ import annotations

from yaml.cyaml import CParser  # type: ignore[attr-defined] # the stubs import it without exporting it


class NodeLoader(CParser):
    """Nodes without the tags of their values, whose resolution takes as long as the parsing."""

    def resolve(self, kind: type, value: str | None, implicit: object) -> str:  # noqa: ARG002 - called by the parser
        return ""

    def descend_resolver(self, node: object, index: object) -> None:
        """Called by the parser."""

    def ascend_resolver(self) -> None:
        """Called by the parser."""
