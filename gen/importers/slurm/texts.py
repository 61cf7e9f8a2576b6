"""Texts that a shell reads as commands: of `eval` and `bash -c`, and here-documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.base import Location, regex
from gen.base.shell_script import assigned_in, nodes_below, syntax_tree
from gen.importers.shell_script import READERS, invalid_parts
from gen.importers.slurm.apptainer import STARTS, opened
from gen.importers.slurm.bash_text import MAX_LEVELS, cut, without_comments
from gen.importers.slurm.batch_commands import FOLLOWED, BatchCommands
from gen.importers.slurm.expansion import (
    CLOSE,
    MARKED,
    NODES,
    OPEN,
    RUN,
    RUN_ID,
    is_known,
    marked,
    shown,
    source_text,
    sources,
)
from gen.importers.slurm.grammar_text import for_grammar, readable
from gen.importers.slurm.inputs import read_line, with_input, words_with_input
from gen.importers.slurm.outputs import ASKS
from gen.importers.slurm.placeholders import with_quoted_placeholders
from gen.importers.slurm.programs import VARIABLE, Called, DroppedPart, Step, in_shell
from gen.importers.slurm.site import (
    OWN_ENVIRONMENT,
    SETS_UP,
    is_silent,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_ARGUMENTS: Final = regex(r"\$\{?[\d@*#]|\bshift\b|\bfor\s+\w+\s*[;\n]")
_SETS_ARGUMENTS: Final = regex(r"\w\s*\(\)|\bset\s+--\s")
_OF_POD: Final = regex(r"\"?\$\{?\w+\}?\"?|\{\{ run\.id \}\}")
"""A value in a text of `eval` that the shell of the pod has."""
_BANNER: Final = regex(r"cat\s*<<-?\s*[\w'\"\\]+\s*")
_MOST_TEXTS: Final = 200  # of `eval`
_MOST_BYTES: Final = 50_000  # of them


def follow_eval(reader: BatchCommands, called: Called) -> bool:
    words = [MARKED.sub(lambda one: one[1] if one[1] in ("*", "?") else one[0], word) for word in called.words]
    text = " ".join(words[1:]).strip()
    if not all(map(_OF_POD.fullmatch, sources(text))) or MARKED.fullmatch(text):
        shell_text = " ".join(map(shown, called.words[1:]))
        if SETS_UP.search(shell_text):
            reader.drop(called, f"`eval {cut(shell_text)}`", *OWN_ENVIRONMENT)
        else:
            reader.start(called.words, called)
    elif text and not text.startswith("-"):
        before = len(reader.steps)
        text = MARKED.sub(lambda match: marked(match[1].strip('"')), text)  # the shell splits them again
        given = {one.strip("${}"): marked(one) for one in sources(text)}
        given = {name: value for name, value in given.items() if name not in reader.variables}
        reader.variables |= given
        follow_text(reader, source_text(_in_double_quotes(text, MARKED)), called.place)
        left = (name for name, value in given.items() if reader.variables.get(name) == value)
        for name in left:
            del reader.variables[name]
        own = [replace(one, assigned=(*called.assigned, *one.assigned)) for one in reader.steps[before:]]
        reader.steps[before:] = own
    return True


def follow_text(reader: BatchCommands, text: str, place: Location) -> None:
    """Follow a text in this shell, as if it were a part of the script at a place."""
    start, plain = len(reader.bytes) + 1, readable(text)
    first = reader.evaluated[0][0] if reader.evaluated else start
    if len(reader.evaluated) >= _MOST_TEXTS or start - first > _MOST_BYTES:
        reader.cut = reader.cut or place
        return
    reader.evaluated.append((start, place))
    reader.bytes += b"\n" + plain.encode("utf-8", "replace")
    top = syntax_tree(b" " * start + for_grammar(plain).encode("utf-8", "replace"), MAX_LEVELS)
    if any(one.is_missing or reader.text(one).strip("\\ \t\n") for one in invalid_parts(top)):
        hint = "correct it if bash refuses it, or write it into the script"
        reader.refuse(place, f"gen cannot read the text of `eval`: `{cut(text)}`", hint)
    until, reader.read_until = reader.read_until, 0
    reader.follow_block(top.children)
    reader.read_until = until


def _in_double_quotes(text: str, marked: re.Pattern[str]) -> str:
    """A command in which parts in single quotes with marks are in double quotes, so that a shell expands the marks."""

    def one(match: re.Match[str]) -> str:
        if not marked.search(match[1]) or text.count('"', 0, match.start()) % 2:
            return match[0]
        plain = [_SPECIAL.sub(r"\\\g<0>", part) for part in marked.split(match[1])[::2]]
        marks = [found[0] for found in marked.finditer(match[1])]
        return '"' + "".join(part for pair in zip(plain, [*marks, ""], strict=True) for part in pair) + '"'

    return re.sub(r"'([^']*)'", one, text)


_SPECIAL: Final = regex(r'[\\"`$]')


def _line_of(reader: BatchCommands, text: str, line: int) -> int:
    """The line of a script where a text of several lines begins, such as that of a variable."""
    lines = [one.strip() for one in reader.source.split("\n")]
    parts = [*enumerate(one.strip() for one in text.split("\n"))]
    known = (
        lines.index(part) + reader.first_line - number for number, part in parts if len(part) > 1 and part in lines
    )
    empty = next((number for number, part in parts if part), 0)
    return next(known, line - empty) if len(parts) > 1 else line


def follow_shell(reader: BatchCommands, called: Called) -> bool:
    """`bash -c TEXT`."""
    found = ((at, one) for at, one in enumerate(called.words[1:], 2) if not re.match(r"-(?![a-zA-Z]*c$)", one))
    at, option = next(found, (0, ""))
    if not option.startswith("-") or called.words[-1].startswith("-"):
        return False
    inner = reader.inner(_line_of(reader, called.words[at] if at < len(called.words) else "", called.place.line))
    text, *behind = called.words[at:]
    text = with_quoted_placeholders(without_comments(text, OPEN, CLOSE))
    text = MARKED.sub(lambda match: marked(match[1].strip('"')), text)  # the inner shell splits them
    text = re.sub(rf"(?<!\\)\\(?={OPEN})", "", text)  # a backslash is for the first character of a value
    of_outer = {one[1:]: marked(one) for one in sources(text)}
    inner.variables = {name: value for name, value in reader.variables.items() if name in reader.exported}
    inner.variables |= dict(called.assigned)
    inner.exported |= dict.fromkeys(dict(called.assigned), called.place)
    inner.set_arguments(behind[1:])
    inner.variables |= dict.fromkeys(("0",) if behind else (), "".join(behind[:1]))
    inner.stops = any(re.match("-[a-zA-Z]*e", one) for one in called.words[1:at])
    inner.variables |= {name: value for name, value in of_outer.items() if name not in reader.variables}
    own = map(str, range(1, 10) if behind[1:] or _SETS_ARGUMENTS.search(text) else ())
    for name in sorted(of_outer.keys() & {*assigned_in(MARKED.sub("", text)), *own}):
        hint = "quote the text with single quotes, or set it before"
        why = "its outer shell expands it before the inner sets it"
        reader.drop(called, f"the empty value of `${name}`", why, hint)
    inner.follow(source_text(_in_double_quotes(text, MARKED)).replace(RUN[1:-1], f"${RUN_ID}"))
    read = {name for one in inner.steps for name in VARIABLE.findall(one.text)} - inner.exported.keys()
    for name in sorted(read & reader.kept & (inner.early - reader.early)):
        hint = "export it in the script, or give it another name there"
        reader.drop(
            called, f"the empty value of `${name}`", "the command sets it, and the script does not export it", hint
        )
    reader.absorb(inner)
    reader.steps += in_shell(inner.steps, reader.stops)
    unread = behind if any(" " in one for one in behind[:1]) else behind[1:]  # the first one is a name
    if unread and not _ARGUMENTS.search(text):
        hint = "write the text as one word, for example with `${NAME[*]}` for an array"
        reader.drop(
            called, f"`{cut(shown(unread[0]))}`", "the text of `bash -c` in front of it reads no arguments", hint
        )
    return True


def _is_of_pod(reader: BatchCommands, path: str, text: str) -> bool:
    """Whether the only pod of a job writes a file, because the text has values that only the machines know."""
    tasks = {reader.constants.get(one, "1") for one in ("SLURM_NNODES", "SLURM_NTASKS")}
    return not is_known(text) and NODES not in text and path not in reader.files and tasks == {"1"}


_IN_NAME: Final = regex(rf"(?<=[A-Za-z]){OPEN}\$([A-Z]?[a-z]\w*){CLOSE}")
"""A variable in the middle of a name, such as that of a class in Java."""


def _without_empty(reader: BatchCommands, text: str, node: Node) -> str:
    """A text without variables in its names that the script never sets, which are empty."""
    named = {name for name in _IN_NAME.findall(text) if name not in reader.constants}
    empty = {name for name in named if not re.search(rf"(?<![$\w{{]){name}\b", reader.source)}
    for name in sorted(empty):
        hint = "quote the end of the here-document, if the file needs the text"
        what = f"the empty value of `${name}`"
        reader.left.append(DroppedPart(reader.place(node), what, "the script does not set it", hint))
    return _IN_NAME.sub(lambda match: "" if match[1] in empty else match[0], text)


def _only_asks(reader: BatchCommands, body: Node) -> bool:
    """Whether the commands in a text only ask for something, apart from arithmetic."""
    commands = (reader.text(one) for one in nodes_below(body, "command_name"))
    return all(one in ASKS or is_silent(one) or f"$(({one}" in reader.text(body) for one in commands)


def _text_of(reader: BatchCommands, heredoc: Node) -> str | None:
    """The text of a here-document, whose first blanks are not in the part of the grammar; without the tabs that `<<-`
    leaves out.
    """
    inner = next((one for one in heredoc.children if one.type == "heredoc_body"), None)
    if inner is None:
        return None
    before = reader.bytes[: inner.start_byte]
    first = before.find(b"\n", len(before.rstrip(b" \t\n"))) + 1 or inner.start_byte
    text = reader.bytes[first : inner.end_byte].decode("utf-8", "replace")
    text = re.sub(r"(?m)^\t+", "", text) if reader.text(heredoc).startswith("<<-") else text
    if text.rpartition("\n")[2]:  # before the word at its end
        what = "bash reads the here-document up to the end of the script, because no line has its last word alone"
        reader.refuse(reader.place(heredoc), what, "write the word without blanks before it; `<<-` allows tabs")
    return text


def _words_behind(reader: BatchCommands, body: Node, heredoc: Node) -> list[str]:
    """The words of a command behind those that the grammar gives it."""
    lost = reader.bytes[body.end_byte : heredoc.start_byte].decode("utf-8", "replace")  # `-`
    return reader.words(" ".join([lost, *map(reader.text, heredoc.children_by_field_name("argument"))]))


def _words_of(reader: BatchCommands, body: Node, heredoc: Node) -> list[str]:
    """The words of a command that starts a container; none of others."""
    name = body.child_by_field_name("name")
    program = reader.text(name).rpartition("/")[2] if name is not None and body.type == "command" else ""
    if name is None or program not in STARTS:
        return [""]
    text = reader.bytes[name.start_byte : body.end_byte].decode("utf-8", "replace")
    return [*reader.words(text), *_words_behind(reader, body, heredoc)]


def _starts_container(reader: BatchCommands, node: Node, parts: tuple[Node, Node], text: str, start: str) -> bool:
    """Follow a program of a container that gets a text as its input. False for other commands."""
    body, heredoc = parts
    words = _words_of(reader, body, heredoc)
    if opened(words) is None:
        return False
    given = [reader.text(one).partition("=") for one in body.children if one.type == "variable_assignment"]
    own = [(name, reader.value(value)) for name, _, value in given]
    inner = words_with_input(words, text.removesuffix("\n"), start.strip("'\"\\"))
    reader.run(reader.place(node), [*inner], tuple(own))
    if reader.output_file(node)[1] or reader.output_file(heredoc)[1]:
        hint = "redirect the output of each program in the text, if another one reads it"
        reader.leave(node, "the redirection of the output", "the cluster keeps the logs", hint)
    return True


def follow_heredoc(reader: BatchCommands, node: Node, body: Node | None, heredoc: Node) -> None:
    """A file that the script writes with `cat <<END > FILE`."""
    inner = next((one for one in heredoc.children if one.type == "heredoc_body"), None)
    start = next((reader.text(one) for one in heredoc.children if one.type == "heredoc_start"), "")
    targets = [one for one in (*node.children, *heredoc.children) if one.type == "file_redirect"]
    destination = next((one.child_by_field_name("destination") for one in targets), None)
    raw = _text_of(reader, heredoc)
    if inner is None or raw is None:
        return
    variables = {**reader.variables}
    text = raw if start.startswith(("'", '"', "\\")) else reader.unquoted(raw)
    reader.variables = variables  # the shell of the program expands `${NAME:=VALUE}`
    called = (body.child_by_field_name("name") or body) if body is not None else None
    program = next(iter(reader.text(called).split()), "") if called is not None else ""
    if program in ("cat", "tee") and destination is not None:
        text = _without_empty(reader, text, node)
        path, text = reader.local(reader.value(reader.text(destination))), reader.local(text)
        if path in reader.of_pod or _is_of_pod(reader, path, text):
            reader.of_pod.setdefault(path, reader.place(node))
            reader.as_it_is(node)
            return
        appends = any(one.type == ">>" for target in targets for one in target.children)
        reader.files[path] = (
            (reader.files[path][0] if appends and path in reader.files else "") + text,
            reader.place(node),
        )
    elif _BANNER.fullmatch(reader.text(node).partition("\n")[0]) and _only_asks(reader, inner):
        return  # it only shows something
    elif program == "read" and body is not None:
        read_line(reader, reader.words(reader.text(body))[1:], text)
    elif body is not None and _starts_container(reader, node, (body, heredoc), text, start):
        return
    elif body is not None and body.type == "command" and program not in FOLLOWED and reader.starts_program(node):
        quoted = text == raw  # or it has no variables
        reader.kept |= {*re.findall(r"\$\{?(\w+)", text)} if quoted else set()
        reader.add(
            Step(text=reader.text(node) if quoted else reader.residual(reader.text(node)), place=reader.place(node))
        )
    elif body is not None and program not in READERS:
        before = len(reader.steps)
        reader.follow_block((body,))
        if program == "srun" and len(reader.steps) > before:
            words = _words_behind(reader, body, heredoc)
            step = replace(reader.steps[-1], options=(*reader.steps[-1].options, *words))
            reader.steps[-1] = with_input(step, text.removesuffix("\n"), start.strip("'\"\\"))
