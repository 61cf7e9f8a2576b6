"""Inputs of programs: here-documents, and the lines that `read` takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Findings, regex
from gen.importers.slurm.apptainer import RUNSCRIPT, opened
from gen.importers.slurm.expansion import ADDRESS, MARKED, NODES, is_known, marked, shown, sources, split
from gen.importers.slurm.options import options_of
from gen.importers.slurm.programs import Step
from gen.importers.slurm.values import BatchValues

if TYPE_CHECKING:
    from tree_sitter import Node

READS: Final = regex(r"(?:\S*/)?(?:ba|z)?sh(?: (?:--?(?:login|norc|noprofile)|-[ilxe]+))*")  # without a script


def with_input(step: Step, text: str, end: str) -> Step:
    """A program of `srun` with the text of a here-document, which each task reads."""
    _, program = options_of([*step.options], step.place, Findings())
    before = step.options[: len(step.options) - len(program)]
    return replace(step, options=(*before, *words_with_input(program, text, end))) if program else step


def words_with_input(words: Sequence[str], text: str, end: str) -> tuple[str, ...]:
    """A command with the text of a here-document, also in a container: a shell follows it, and gives it to any other
    program.
    """
    container = opened(words)
    program = tuple(words if container is None or RUNSCRIPT in container.command else container.command)
    before = tuple(words[: len(words) - len(program)])
    at = program.index("-s") if "-s" in program else len(program)
    if READS.fullmatch(" ".join(program[:at])):
        behind = (program[0], *program[at + 1 :]) if program[at + 1 :] else ()
        return (*before, *program[:at], "-c", text, *behind)
    start = f"'{end}'" if re.search(r"[$`\\]", text) and is_known(text) else end
    shown_words = [shown(one) if is_known(one) else f'"{_outside_marks(one)}"' for one in program]
    lines = f"{' '.join(shown_words)} <<{start}", text if is_known(text) else _outside_marks(text), end
    return (*before, "bash", "-c", "\n".join(lines))


def _outside_marks(text: str) -> str:
    """A text with a backslash before signs of a shell, outside of what only a pod knows."""
    return re.sub(rf"({MARKED.pattern})|[\\`$]", lambda one: one[1] or rf"\{one[0]}", text)


def read_line(reader: BatchValues, words: Sequence[str], text: str, separators: str = " \t\n") -> None:
    """Set the variables of `read` from a text."""
    values, line = words_of_read(words, text, separators)
    reader.variables |= values
    if not is_known(line) and len(values) > 1:
        reader.forget(*values)


def here_string(node: Node) -> Node | None:
    """The input of a command behind `<<<`."""
    return next((one for one in node.children if one.type == "herestring_redirect"), None)


def read_values(reader: BatchValues, node: Node, words: Sequence[str], separators: str) -> str:
    """Set the variables of `read` or `mapfile`, as far as its input is a text. Returns a line for the pod."""
    names = [one for one in words[1:] if re.fullmatch(r"[A-Za-z_]\w*", one)]
    here = here_string(node)
    value = reader.value(reader.text(here)[3:].strip()) if here is not None else ""
    switches = {one for one in words[1:] if one.startswith("-")}
    if names and switches <= {"-t", "-r", "-a", "-ra"} and (nodes := _nodes_of_input(reader, node, words[0], value)):
        reader.variables[names[-1]] = nodes if words[0] != "read" or switches & {"-a", "-ra"} else nodes[0]
        return ""
    outside = next((one[1:] for one in sources(value) if one[1:] in reader.early), "")
    reader.read_from |= dict.fromkeys(names, outside)
    if here is not None and names and switches <= {"-a", "-ra", "-r"} and switches - {"-r"}:
        is_list = NODES in value or ADDRESS in value
        in_words = separators.isspace() or not is_known(value)
        signs = f"[{re.escape(separators)}]"
        parts = [value] if is_list else split(value, separators) if in_words else re.split(signs, value.strip())
        reader.variables[names[-1]] = (ADDRESS, *parts) if value == NODES else tuple(parts)
        if not is_list and not is_known(value) and not separators.isspace():
            reader.from_text |= {*names}
            reader.forget(*names)
            return f"IFS={shown(separators)} read -ra {names[-1]} <<< {shown(value)}"
    elif here is not None and words[0] != "read" and names and switches == {"-t"} and is_known(value):
        reader.variables[names[-1]] = tuple(value.split("\n"))
    elif here is None and names and node.parent is not None and reader.has_input(node.parent):
        reader.from_text |= {*names}
        reader.variables |= {name: marked(f"${name}") for name in names}
        return reader.residual(reader.text(node.parent))
    elif here is None or not names or words[0] != "read" or not switches <= {"-r"}:
        reader.forget(*names)
    elif is_known(value):
        read_line(reader, names, value, separators)
    else:
        ifs = "" if separators.isspace() else f"IFS={shown(separators)} "
        reader.from_text |= {*names}
        reader.variables |= {name: marked(f"${name}") for name in names}
        return f"{ifs}read -r {' '.join(names)} <<< {shown(value)}"
    return ""


_OF_OUTPUT: Final = regex(r"<\s*<\((.*)\)", re.DOTALL)
"""The input of a command that another one makes."""


def _nodes_of_input(reader: BatchValues, node: Node, program: str, value: str) -> tuple[str, ...]:
    """The nodes that `read` or `mapfile` takes from a text, or from the output of `scontrol`, with one on each line."""
    if value:
        return reader.nodes if program != "read" and value == NODES else ()
    redirects = node.parent.children if node.parent is not None and node.parent.type == "redirected_statement" else []
    made = (_OF_OUTPUT.fullmatch(reader.text(one)) for one in redirects if one.type == "file_redirect")
    listed = {reader.output(one[1]) for one in made if one is not None and "scontrol" in one[1]}
    if listed == {NODES}:
        return reader.nodes if program != "read" else (ADDRESS,)
    return (ADDRESS,) if listed == {ADDRESS} else ()


def words_of_read(words: Sequence[str], text: str, separators: str) -> tuple[dict[str, str], str]:
    """The variables that `read` with these words sets from the first line of a text, or from all of it for `-d`, and
    that line.
    """
    behind = pairwise(("", *words))  # the value of an option is not a name
    names = [one for before, one in behind if one.isidentifier() and not re.fullmatch(r"-\w*[dnNtpui]", before)]
    line = text if any(one.startswith("-") and "d" in one for one in words) else text.split("\n", 1)[0]
    sign = r"\s+" if separators.isspace() else f"[{re.escape(separators)}]"
    parts = re.split(sign, line.strip(), maxsplit=len(names) - 1) if len(names) > 1 else [line.strip()]
    return dict(zip(names, [*parts, *[""] * len(names)], strict=False)), line
