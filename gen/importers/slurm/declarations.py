"""Variables that the batch part sets: assignments, `export`, `declare`, `local`, `readonly` and `unset`; and its
functions, with the variables that they read and set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import regex
from gen.base.shell_script import assigned_in, nodes_below
from gen.importers.slurm.expansion import MARKED, is_known, items_of, marked, source_text, sources
from gen.importers.slurm.outputs import line_of_output
from gen.importers.slurm.programs import DroppedPart, Step, is_needed, reads_of
from gen.importers.slurm.site import OF_NETWORK, is_of_machines, is_of_pods
from gen.importers.slurm.values import ARGUMENT

if TYPE_CHECKING:
    from tree_sitter import Node

    from gen.importers.slurm.batch_commands import BatchCommands

_LOCAL: Final = regex(r"(?:local|declare|typeset)\s+(?!(?:-\w+\s+)*-\w*g)")
_ARGUMENTS: Final = frozenset({*map(str, range(10)), "@", "*", "#"})


class KeptFunction(Struct, frozen=True):
    """A function in the command, which only the shell of the pod runs."""

    text: str
    reads: frozenset[str]
    """Variables whose values a later line can change."""
    sets: frozenset[str]


def assign(reader: BatchCommands, node: Node) -> None:
    """Follow an assignment. A program starts once in the pod, too, if the script uses its output several times."""
    name, value = reader.assign_node(node) or ("", "")
    if name == "IFS":
        text = reader.text(node) if is_known(value) else "unset IFS"
        reader.add(Step(text=text, place=reader.place(node), sets=name))
    elif name and not reader.is_inner:
        _set_to_output(reader, node, name, value)


def _set_to_output(reader: BatchCommands, node: Node, name: str, value: str) -> None:
    """Add the line that sets a variable to the output of a program, if it needs one."""
    splits = reader.separators == " \t\n"
    made = line_of_output(name, value, reader.variables[name], reader.source, splits=splits)
    if made is None:
        return
    step = Step(text=f"{name}={made.text}", place=reader.place(node), sets=name)
    if made.is_single:
        reader.steps.append(line := reader.placed(step))
        reader.single_outputs.append((line, reader.variables[name]))
        return
    reader.add(step)
    reader.from_text.add(name)
    reader.variables[name] = (marked(f"${name}"), *made.others) if made.others else marked(f"${name}")


def declare(reader: BatchCommands, node: Node) -> None:
    """Follow a declaration."""
    word, *behind = reader.text(node).partition("=")[0].split()
    switches = "".join(one for one in behind if one.startswith("-"))
    lost, reader.behind = reader.behind, []  # behind `>`
    if lost or {*switches} & {*{"export": "ulcf" if behind[1:] else "ulc"}.get(word, "ulnc")}:
        what = f"gen does not follow `{word} {' '.join(lost) or switches}`"
        reader.refuse(reader.place(node), what, "write the value that it makes")
    if word == "local" and reader.hidden is None:
        reader.refuse(reader.place(node), "bash accepts `local` in functions only", "remove `local`")
    hides = reader.hidden is not None and word in ("local", "declare", "typeset") and "g" not in switches
    exports = (word == "export" and "n" not in switches) or "x" in switches
    fixes = word == "readonly" or ("r" in switches and not hides)
    for name, child in _declared(reader, node):
        assigns = child is not None and child.type == "variable_assignment"
        if assigns and reader.keeps(node, name, declared=True):
            continue
        if reader.hidden is not None and hides:
            reader.hidden.setdefault(name, reader.variables.get(name))
        made = reader.assign_node(child) if child is not None and assigns else None
        _note_type(reader, name, switches if assigns else switches.replace("i", ""))
        reader.fixed |= {name} if fixes else set()
        if exports:
            if made is not None and not reader.is_inner and _is_of_program(reader, name):
                _set_to_output(reader, node, *made)
            _export(reader, name)
            reader.exported.setdefault(name, reader.place(node if child is None else child))
        elif word == "export":
            reader.exported.pop(name, None)


def _is_of_program(reader: BatchCommands, name: str) -> bool:
    """Whether a variable has the output of a program or a file, other than of one that asks for nodes and the like.
    Several words are a command or its options.
    """
    value = reader.variables[name]
    if isinstance(value, str) and len(MARKED.sub("x", value).split()) > 1:
        return False
    parts = {one.strip('"') for item in items_of(value) for one in sources(item)}
    return not reader.outputs.keys().isdisjoint(parts) and not is_of_pods(name)


def _export(reader: BatchCommands, name: str) -> None:
    """Export a variable whose value only a pod knows: in the line that sets it to the output of a program, or behind
    the random number that it has.
    """
    value = reader.variables.get(name, "")
    drawn = source_text(str(value))
    if "RANDOM" in drawn and not reader.in_task:
        reader.drawn[name], reader.variables[name] = marked(drawn), marked(f"${name}")
    lines = [at for at, one in enumerate(reader.steps) if one.sets == name and one.text.startswith(f"{name}=")]
    singles = [one for one in reader.single_outputs if one[0].sets == name]
    is_single = any(known == value for _, known in singles) and _is_of_program(reader, name)
    if lines and (is_single or name in reader.from_text) and not is_of_pods(name):
        line = reader.steps[lines[-1]]
        reader.steps[lines[-1]] = replace(line, text=f"export {line.text}", sets="")
        reader.single_outputs = [one for one in reader.single_outputs if one not in singles]
        reader.from_text.add(name)
        reader.variables[name] = marked(f"${name}") if isinstance(value, str) else value


def _note_type(reader: BatchCommands, name: str, switches: str) -> None:
    """Note a number of `declare -i`, or an array of `declare -A` with the items that it has."""
    if "i" in switches and isinstance(whole := reader.variables.get(name), str):
        reader.variables[name] = reader.arithmetic(whole)
    if "A" not in switches:
        return
    pairs = (one.partition("]=") for one in reader.variables.setdefault(name, ()))
    reader.keyed[name] = {key.removeprefix("["): value for key, sign, value in pairs if sign}


def _declared(reader: BatchCommands, node: Node) -> Iterator[tuple[str, Node | None]]:
    """The variables of a declaration, with their parts of the script. It assigns those of other words itself."""
    for child in node.named_children:
        text = reader.text(child)
        if child.type in ("variable_assignment", "variable_name"):
            yield reader.text(child.child_by_field_name("name") or child), child
        elif child.start_byte >= reader.read_until and child.type != "comment" and not text.startswith(("-", "+")):
            for one in reader.words(text):
                name, sign, value = one.partition("=")
                if not name.isidentifier():
                    hint = "write the names and values into the script"
                    what = f"the declaration of `{text[:60]}`"
                    reader.left.append(DroppedPart(reader.place(node), what, "only a shell knows its variables", hint))
                elif not sign or not reader.keeps(node, name, declared=True):
                    reader.variables |= {name: value} if sign else {}
                    yield name, None


def unset(reader: BatchCommands, node: Node) -> None:
    """Follow `unset`. Names variables that the image can set, because the script does not."""
    words = reader.words(reader.text(node))[1:]
    for name in dict.fromkeys(one for one in words if one not in reader.fixed):
        of_network = OF_NETWORK.fullmatch(name) is not None
        of_site = is_of_machines(name) and not (of_network or name.startswith("LD_"))
        if "-f" in words:
            reader.functions.pop(name, None)
            continue
        if name.isidentifier() and reader.lookup(name) is None and not of_site:
            hint = f"write `unset {name}` into `command`, if the program reads it"
            where = "the image or the overlay" if of_network else "the image of the job"
            reader.leave(node, f"`unset {name}`", f"{where} may set it", hint)
        if "[" in name:
            reader.forget(name.partition("[")[0])
            continue
        if reader.variables.pop(name, None) is not None and name == "IFS":
            reader.add(Step(text="unset IFS", place=reader.at, sets=name))
        reader.exported.pop(name, None)
        reader.constants.pop(name, None)


def _is_changed_later(reader: BatchCommands, name: str) -> bool:
    """Whether a variable can get another value than that of now: behind this line, in a loop around it, or in a
    function.
    """
    behind = "\n".join(reader.source.split("\n")[reader.at.line - reader.first_line :])
    others = (*map(reader.text, reader.functions.values()), *(one.text for one in reader.of_shell.values()))
    counts = rf"\b{name}\s*(?:\+\+|--|[-+*/%]=)|(?:\+\+|--){name}\b"
    changes = rf"{counts}|\$\{{{name}:?=|\b(?:unset|getopts|printf -v)\b.*\b{name}\b"
    texts = (one for one in (behind, *reader.turns, *others) if name in one)
    return any(name in assigned_in(one) or re.search(changes, one) for one in texts)


def keep_function(reader: BatchCommands, name: str) -> None:
    """Write a function into the command, if the script has it. Variables that can change stay variables in it."""
    if (called := reader.functions.pop(name, None)) is None or name in reader.of_shell:
        return
    reader.of_outputs.add(name)
    text = reader.text(called)
    declared = [one for one in nodes_below(called, "declaration_command") if _LOCAL.match(reader.text(one))]
    local = {one for node in declared for one, _ in _declared(reader, node)}
    sets = {*assigned_in(text)} - local
    reads = {one for one in reads_of(text) - local - _ARGUMENTS if one in sets or _is_changed_later(reader, one)}
    own = {*_ARGUMENTS, *local, *sets, *reads}
    known = {one: reader.variables[one] for one in own if one in reader.variables}
    reader.kept |= own
    reader.variables |= {**{one: marked(f"${one}") for one in own}, "@": ()}
    reader.of_shell[name] = KeptFunction(text, frozenset(reads), frozenset(sets))
    reader.as_it_is(called)
    reader.steps[-1] = replace(reader.steps[-1], sets=f"{name}()")
    reader.variables = {**{one: value for one, value in reader.variables.items() if one not in own}, **known}
    inner = [one for one in map(reader.text, nodes_below(called, "command_name")) if one in reader.of_shell]
    reads |= {one for other in inner for one in reader.of_shell[other].reads - local}
    sets |= {one for other in inner for one in reader.of_shell[other].sets - local}
    reader.of_shell[name] = KeptFunction(text, frozenset(reads), frozenset(sets))


def call(reader: BatchCommands, words: Sequence[str], assigned: tuple[tuple[str, str], ...]) -> bool:
    """Follow the body of a function with these arguments. False if there is none of this name, or only a shell can
    give its programs the variables in front of it.
    """
    function = reader.functions.get(words[0])
    if function is None:
        return False
    body, before = function.child_by_field_name("body"), len(reader.steps)
    variables, clear, state = {**reader.variables}, reader.unclear is None, reader.state()
    reader.variables |= dict(assigned)
    around, reader.hidden, reader.loops = (reader.hidden, reader.loops, reader.has_more), {}, 0
    reader.set_arguments(words[1:])
    own_shell = body is not None and body.type == "subshell"
    reader.follow_block(() if body is None else (body,) if own_shell else body.children)
    names = (*reader.variables, *variables, *dict(assigned))
    own = {one: variables.get(one) for one in names if ARGUMENT.fullmatch(one) or one in dict(assigned)}
    for name, value in {**own, **reader.hidden}.items():
        reader.variables.pop(name, None)
        reader.variables |= {name: value} if value is not None else {}
    (reader.hidden, reader.loops, reader.has_more), reader.leaving = around, ("", 0)
    is_lost = (clear and reader.unclear is not None) or (assigned and any(one.text for one in reader.steps[before:]))
    reader.steps[before:] = [one.with_variables(assigned) for one in reader.steps[before:]]
    if is_lost and "srun" not in reader.text(function):
        reader.restore(state)
        keep_function(reader, words[0])
        return False
    return True


def read_by_calls(reader: BatchCommands, names: Iterable[str]) -> list[str]:
    """The variables of the functions in the command that a part of the script calls, which need their values of now."""
    reads = sorted({one for name in names if name in reader.of_shell for one in reader.of_shell[name].reads})
    set_before = {one.sets for one in reader.steps}
    for name in reads:
        value = reader.variables.get(name, "" if name in set_before else marked(f"${name}"))
        if name not in reader.variables and name not in set_before:
            reader.early.add(name)
        elif value != marked(f"${name}"):
            reader.before[name] = value
    return reads


def set_by(reader: BatchCommands, step: Step) -> set[str]:
    """The variables that a step of the command sets, itself or in a function that it calls."""
    called = [one for one in reader.of_shell if one == "".join(step.words[:1]) or is_needed(f"{one}()", step.text)]
    sets = {one for name in called for one in reader.of_shell[name].sets}
    return {step.sets, *assigned_in(step.text), *sets}


def forget_set(reader: BatchCommands, names: Iterable[str]) -> None:
    """Note that only a shell knows the variables that functions in the command set."""
    sets = {one for name in names if name in reader.of_shell for one in reader.of_shell[name].sets}
    reader.kept |= sets
    reader.variables |= {one: marked(f"${one}") for one in sets}
