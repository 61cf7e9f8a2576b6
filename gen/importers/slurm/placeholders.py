"""Placeholders of scripts and site files, such as `<YOUR PROJECT>`, which the user replaces."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from shlex import quote
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.base import Location, regex
from gen.base.shell_script import nodes_below, syntax_tree
from gen.importers.draft import JobDraft, is_secret
from gen.importers.shell_script import placeholders
from gen.importers.slurm.bash_text import MAX_LEVELS, cut, unclosed, without_heredocs
from gen.importers.slurm.grammar_text import for_grammar
from gen.importers.slurm.programs import Step, uses_of
from gen.importers.slurm.site import Site

if TYPE_CHECKING:
    from tree_sitter import Node

_QUOTES: Final = "\"'"
_IN_QUOTES: Final = regex(r"(?:(?<![\w$-])([A-Za-z_]\w*)=|(?<=[\s=]))([\"'])(<[A-Z][A-Z0-9_ -]*[A-Z0-9]>)(?:\2|(?=/))")
_OF_MODEL: Final = regex(r"(?i)tok(?:en)?s?[= ]*$")
"""The name of an option before a token of a model, such as `<IMAGE>`."""
_SHOWS_TEXT: Final = regex(r"\b(?:echo|printf|e?grep|sed|awk)\b|[!=]=|\[\s")
_SHELL: Final = regex(r"\b(?:ba|da|k|z)?sh\b")
_ASKS: Final = regex("YOUR|PATH|CHANGE|REPLACE|TODO")
"""A placeholder in a program, where another text in brackets can be a tag of a prompt."""
_IN_FILE: Final = regex(r"(?i)<(?:[A-Z][A-Z0-9_ -]*[A-Z0-9]|your\b[^<>]*)>")
"""A placeholder in a here-document, which can also have tags and addresses."""


class Placeholder(Struct, frozen=True, kw_only=True):
    """A placeholder of a script that has no value."""

    line: int
    """From 1."""
    mark: str
    """With its brackets, and with the quotes around them."""
    variable: str = ""
    """The variable that it is assigned to."""
    is_text: bool = False
    """Whether the shell passes it on as it is. It reads any other one as redirections."""

    is_quoted: bool = False
    """Whether it is inside of a longer text in quotes, which another shell may read."""

    @property
    def text(self) -> str:
        """The placeholder without quotes."""
        return self.mark.strip(_QUOTES)


def _heredoc_at(text: str, at: int) -> str:
    """The line that begins the here-document at a position."""
    start = text.rfind("<<", 0, at)
    return text[text.rfind("\n", 0, start) + 1 : text.find("\n", start)]


def _unquoted(text: str, plain: str) -> Iterator[tuple[int, Placeholder]]:
    """Placeholders without quotes, and those that here-documents write into files; and their positions. `plain` is the
    text without here-documents.
    """
    for at, mark, variable in placeholders(text):
        line, name = text.count("\n", 0, at) + 1, re.split(r"[\s>]", mark[1:], maxsplit=1)[0]
        is_inside = plain[at] == " "
        start = _heredoc_at(text, at) if is_inside else ""
        is_text = is_inside and not _SHELL.search(start)
        is_shown = is_text and not (_IN_FILE.fullmatch(mark) and re.search(r"(?<![<>])>|\btee\b", start))
        if not is_shown and f"</{name}>" not in text:
            is_quoted = not is_text and unclosed(f"{plain[:at]}\n") is not None
            yield at, Placeholder(line=line, mark=mark, variable=variable, is_text=is_text, is_quoted=is_quoted)


def _quoted(text: str, plain: str) -> Iterator[tuple[int, Placeholder]]:
    """Placeholders such as `"<YOUR PROJECT>"` in quotes, and their positions. A secret has a finding of its own."""
    for match in _IN_QUOTES.finditer(plain):
        start = text.rfind("\n", 0, match.start()) + 1
        before, line = text[start : match.start()], text[start : text.find("\n", match.end())]
        is_inside = before.count('"') % 2 or before.count("'") % 2
        is_used = not match[1] or uses_of(match[1], text) or re.search(rf"\b(?:export|-x)\b.*\b{match[1]}\b", text)
        other = is_secret(match[1], match[3]) if match[1] else _OF_MODEL.search(before)
        other = other or f"</{match[3][1:]}" in text
        of_program = unclosed(text[:start]) is not None and not _ASKS.search(match[3])  # such as `python -c`
        if is_used and not (is_inside or other or of_program or "#" in before or _SHOWS_TEXT.search(line)):
            at, mark = match.start(2), text[match.start(2) : match.end()]
            yield at, Placeholder(line=text.count("\n", 0, at) + 1, mark=mark, variable=match[1] or "", is_text=True)


def without_placeholders(text: str, values: Mapping[str, str]) -> tuple[str, list[Placeholder]]:
    """A script with given values in place of placeholders such as `TOKEN=<your token>`, and each other one."""
    parts: list[str] = []
    left: list[Placeholder] = []
    end, plain = 0, without_heredocs(text)
    for at, one in sorted([*_unquoted(text, plain), *_quoted(text, plain)], key=lambda found: found[0]):
        if text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith("#"):
            continue
        known = values.get(one.variable, one.mark)
        is_whole = one.mark[-1] != ">"
        parts += [text[end:at], one.mark if one.is_text and one.variable not in values else quote(known)]
        if one.is_text and one.variable in values and not is_whole:
            parts[-1] = f"{one.mark[0]}{known}" if one.mark[0] in _QUOTES else known
        end = at + len(one.mark)
        if one.variable not in values:
            left.append(one)
    return "".join([*parts, text[end:]]), left


_INNER: Final = regex(r"(?<![\w<\"'])<[A-Za-z](?:[^<>()'\"|&;\n]*[^\s<>()'\"|&;])?>(?=[\s:/\\;&|]|$)")


def with_quoted_placeholders(text: str) -> str:
    """A text for another shell, with the placeholders in it as words: they have findings of their own."""

    def quoted(match: re.Match[str]) -> str:
        inside = any(text.count(sign, 0, match.start()) % 2 for sign in _QUOTES)
        return match[0] if inside else f"'{match[0]}'"

    return _INNER.sub(quoted, text)


def report_placeholders(draft: JobDraft, found: Iterable[Placeholder]) -> None:
    """Report the placeholders of a script."""
    ended = False
    first: dict[str, Placeholder] = {}
    for one in sorted(found, key=lambda one: (one.line, one.mark)):
        first.setdefault(one.text, one)
    for one in first.values():
        hint = "replace it with its value"
        hint += f", or give this with `--define {one.variable}=VALUE`" if one.variable else ""
        what = f"bash ends the script at the placeholder `{cut(one.mark)}`"
        is_text = one.is_text or one.is_quoted
        what = f"`{cut(one.text)}` is a placeholder" if is_text or ended else what
        ended = ended or not is_text
        draft.cannot_run(Location(draft.place.file, one.line), what, hint)


_IN_BRACES: Final = regex(r"(?:--[\w.-]+=)?(\{ ?([A-Za-z_]\w*) ?\})")


def report_braces(draft: JobDraft, options: Iterable[str], runs: Iterable[Step]) -> None:
    """Report values of options such as `{wandb_token}`, which the tool of a template replaces. Other texts in braces
    are for the program, unless one of the `options` of Slurm is such a text.
    """
    is_template = any(map(_IN_BRACES.fullmatch, options))
    for run in runs:
        for before, word in pairwise(run.words):
            match = _IN_BRACES.fullmatch(word)
            is_value = match is not None and (before.startswith("--") or word.startswith("--"))
            if match is not None and is_value and (is_template or is_secret(match[2], match[1])):
                hint = "replace it with its value, or with a variable of a Secret"
                draft.cannot_run(run.place, f"`{match[1]}` is a placeholder", hint)


def report_incomplete(draft: JobDraft, text: str, site: Site, names: Iterable[str]) -> None:
    """Report placeholders of a site file that the script reads."""
    for name in names:
        read = rf"{re.escape(name)}\b" + ("|[@*]" if name == "1" else "")
        if re.search(rf"(?m)^(?!\s*#(?!SBATCH)).*\$\{{?(?:{read})", text) is not None:
            hint = f"write its value there, or give it with `--define {name}=VALUE`"
            draft.cannot_run(site.places[name], f"`{site.define[name]}` is a placeholder", hint)


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
