"""Files to which the commands of the batch part write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gen.base import Location
from gen.importers.slurm.functions import BatchFunctions

if TYPE_CHECKING:
    from tree_sitter import Node


class BatchFiles(BatchFunctions):
    """Follows redirections of outputs."""

    def __init__(self, constants: Mapping[str, str], *, in_task: bool) -> None:
        super().__init__(constants, in_task=in_task)
        self.files: dict[str, tuple[str, Location]] = {}  # texts that the script writes, by path
        self.of_pod = dict[str, Location]()  # files that the pod writes, because only it knows their texts

    def output_file(self, node: Node) -> tuple[str, str]:
        """`>` or `>>`, with `&` if it has the errors, too, and the file of the output."""
        redirects = [part for part in node.children if part.type == "file_redirect"]
        for at, one in enumerate(redirects):
            sign = next((part.type for part in one.children if not part.is_named), "")
            number = "".join(self.text(part) for part in one.children if part.type == "file_descriptor")
            path = next(iter(self.destinations(one)), "/dev/")
            if ">" in sign and number in ("", "1") and not re.match(r"\d+$|/dev/", path):
                both = "&" in sign or "2>&1" in map(self.text, redirects[at + 1 :])
                return ("&" if both else "") + (">>" if ">>" in sign else ">"), self.local(
                    self.value(path)
                ).removeprefix("./")
        return "", ""

    def destinations(self, redirect: Node) -> list[str]:
        """The words behind the sign of a redirection; the grammar splits them in front of some variables."""
        parts: list[tuple[int, int]] = []
        for one in redirect.children_by_field_name("destination"):
            start = parts.pop()[0] if parts and parts[-1][1] == one.start_byte else one.start_byte
            parts.append((start, one.end_byte))
        return [self.bytes[start:end].decode("utf-8", "replace") for start, end in parts]

    def is_read(self, path: str, start: int) -> bool:
        """Whether the script has a path behind a byte, other than behind `>`."""
        behind = self.bytes[start:].decode("utf-8", "replace")
        return re.search(rf"[^>\s]\s*{re.escape(path)}", behind) is not None

    def note_written(self, node: Node, output: tuple[str, str], line: str | None) -> None:
        """Note a line that the script writes into a file; None for unknown text."""
        sign, path = output[0].removeprefix("&"), output[1]
        if path in self.of_pod:
            self.as_it_is(node)
            return
        if sign == ">>" and path in self.files and line is not None:
            self.files[path] = self.files[path][0] + line, self.place(node)
        elif path:
            old = self.written.get(path, ("", self.place(node)))[0] if sign == ">>" else ""
            self.written[path] = None if line is None or old is None else old + line, self.place(node)
