"""Variables that the batch part sets: assignments, `export`, `declare`, `local`, `readonly` and `unset`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gen.importers.slurm.background import set_ids
from gen.importers.slurm.batch_commands import BatchCommands
from gen.importers.slurm.expansion import MARKED, is_known, items_of, marked, shown, source_text, sources
from gen.importers.slurm.outputs import line_of_output
from gen.importers.slurm.programs import DroppedPart, Step
from gen.importers.slurm.site import OF_NETWORK, is_of_machines, is_of_pods
from gen.importers.slurm.variable_files import lost_variables

if TYPE_CHECKING:
    from tree_sitter import Node


def _set_for_shell(reader: BatchCommands, node: Node) -> None:
    """Set variables of the command to the process ids and statuses that only the shell of the pod knows."""
    before = len(reader.steps)
    set_ids(reader, node)
    reader.set_status(node, before)


def assign(reader: BatchCommands, node: Node) -> None:
    """Follow an assignment. A program starts once in the pod, too, if the script uses its output several times."""
    if _changes_array_of_shell(reader, node):
        reader.as_it_is(node)
        return
    name, value = reader.assign_node(node) or ("", "")
    _set_for_shell(reader, node)
    if name == "IFS":
        text = reader.text(node) if is_known(value) else "unset IFS"
        reader.add(Step(text=text, place=reader.place(node), sets=name))
    elif name == "SECONDS":  # which the shell counts
        reader.add(Step(text=f"{name}={shown(value)}", place=reader.place(node), sets=name))
        reader.variables[name] = marked(f"${name}")
    elif name and not reader.is_inner:
        _set_to_output(reader, node, name, value)


def _changes_array_of_shell(reader: BatchCommands, node: Node) -> bool:
    """Whether `A+=(…)` or `A[…]=…` changes a part of an array that a line of the pod sets."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    adds = any(one.type == "+=" for one in node.children) and value is not None and value.type == "array"
    is_part = name is not None and (adds or name.type == "subscript")
    array = reader.text(name).partition("[")[0] if name is not None else ""
    return is_part and array in reader.variables and reader.is_of_shell(array)


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
        if child is not None and assigns:
            _set_for_shell(reader, child)
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
        if name in reader.drawn:
            what, why = f"the other random numbers of `{name}`", "the job draws the last one, for all programs"
            hint = f"write `{name}={drawn}` in front of each program in `command`"
            reader.left.append(DroppedPart(reader.at, what, why, hint))
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
        elif lost := lost_variables(reader, f"export {text}", reader.place(node)):
            reader.left += lost
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
