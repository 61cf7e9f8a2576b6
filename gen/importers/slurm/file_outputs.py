"""Files to which the commands of the batch part write."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Location, regex
from gen.importers.slurm.expansion import is_known
from gen.importers.slurm.functions import BatchFunctions
from gen.importers.slurm.outputs import is_of_program

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

    def searches_output(self, text: str) -> bool:
        """Whether a command searches a file that a program of the script makes."""
        if not _SEARCHES.match(text):
            return False
        paths = [self.local(one).removeprefix("./") for one in self.condition_words(text) if not one.startswith("-")]
        outputs = {one.output[1] for one in self.steps}
        return any(one in outputs or is_of_program(self.steps, one, self.variables) for one in paths[2:])

    def note_written(self, node: Node, output: tuple[str, str], line: str | None) -> None:
        """Note a line that the script writes into a file; None for unknown text."""
        sign, path = output[0].removeprefix("&"), output[1]
        if path in self.of_pod or self._is_of_only_pod(node, path, line):
            self.of_pod.setdefault(path, self.place(node))
            self.as_it_is(node)
            self.steps[-1] = replace(self.steps[-1], writes=path)
            return
        if sign == ">>" and path in self.files and line is not None:
            self.files[path] = self.files[path][0] + line, self.place(node)
        elif path:
            old = self.written.get(path, ("", self.place(node)))[0] if sign == ">>" else ""
            unknown = line is None or old is None or (sign == ">>" and self._is_on_volume(path))
            self.written[path] = None if unknown else f"{old}{line}", self.place(node)

    def text_of_file(self, path: str) -> str | None:
        """The text of a file that the script has written; None if it is not known."""
        path = posixpath.normpath(self.local(path))
        texts = {**self.written, **self.files}
        text = next((texts[one][0] for one in texts if posixpath.normpath(one) == path), None)
        return text if text is not None and is_known(text) else None

    def _is_on_volume(self, path: str) -> bool:
        """Whether a file is in a folder of a volume of the site, which keeps its files."""
        return any(path.startswith(f"{one.rstrip('/')}/") for one in self.volumes)

    def _is_of_only_pod(self, node: Node, path: str, line: str | None) -> bool:
        """Whether the only pod of a job writes a line, because only it knows the text or the file."""
        tasks = {self.constants.get(one, "1") for one in ("SLURM_NNODES", "SLURM_NTASKS")}
        other = path in self.files or path in self.written or not path or self.in_task or tasks != {"1"}
        if other or (line is not None and not self._is_on_volume(path)):
            return False
        return not _NAMES_NODES.search(self.residual(self.text(node)))

    def writes_all(self, node: Node) -> bool:
        """Follow `exec` without a program, which redirects the output of all programs behind it. False for others."""
        text = self.text(node)
        if re.match(r"exec\s+[^\w\s-]", text) is None:
            return False
        path = next((one.strip("\"'") for one in _OF_TEE.findall(text)), "") or self.output_file(node)[1]
        tasks = {self.constants.get(one, "1") for one in ("SLURM_NNODES", "SLURM_NTASKS")}
        if path and tasks == {"1"} and self.is_read(path, node.end_byte):
            self.as_it_is(node)
        elif path:
            hint = "read the logs with `gen logs`, or redirect the output in `command`"
            self.leave(node, "the redirection of the output", "the cluster keeps the logs", hint)
        return True


_SEARCHES: Final = regex(r"[ef]?grep\s")
_NAMES_NODES: Final = regex(r"\$\{?(?:MASTER_ADDR|SLURM_(?:JOB_)?NODELIST)\b")
_OF_TEE: Final = regex(r">\s*>\(\s*tee\s+(?:-\S+\s+)*([^\s|)]+)")
