"""Outputs of commands that ask for nodes, GPUs, folders and numbers, as values of a pod; and folders of a script."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from gen.base import names, regex
from gen.importers.slurm.expansion import ADDRESS, CLOSE, NODES, OPEN, START, is_known

DEEP: Final = "/f" * 20
"""A folder with as many parents as a script leaves with `cd ..`."""


def joined(folder: str, target: str) -> str:
    """The folder after `cd`, without a need for the folders."""
    if target.startswith(START):
        folder, target = "", target.replace(START, ".", 1)
    known = target and is_known(folder) and is_known(target)
    return posixpath.normpath(posixpath.join(folder, target)) if known else target


def absolute(folder: str) -> str:
    """A folder of `cd`, from that at the start of the script."""
    is_inside = is_known(folder) and not folder.startswith("/")
    return posixpath.join(START, "" if folder == "." else folder).rstrip("/") if is_inside else folder


def relative(text: str, folder: str) -> str:
    """A text with paths from the folder instead of that at the start of the script."""
    if START not in text or not is_known(folder) or folder.startswith("/"):
        return text.replace(START, ".")
    start = posixpath.relpath(DEEP, f"{DEEP}/{folder}")
    inner = regex(rf"{START}/{re.escape(folder)}(?=[/\s:,;'\"]|$)")
    return (inner.sub(".", text) if start != "." else text).replace(START, start)


ASKS: Final = names(
    "awk basename bc cd cksum comm cut date dig dirname echo egrep expr gawk getent grep head host hostname id "
    "ifconfig ip lsof md5sum netstat nproc nslookup nvidia-smi od paste printf pwd readlink realpath rev scontrol sed "
    "seq sha1sum shuf sort srun ss ssh tac tail tr uniq uuidgen wc which whoami xargs"
)
"""Programs with an output that depends on nodes, ids, random numbers and folders only, or on that of the others."""
FIRST: Final = regex(r"(?:^|[|(`])\s*(?:head\s+-n?\s*1\b|sed\s+(?:-n\s+)?['\"]?1p|awk\s+'NR==1|cut\s+-d\S*\s+-f\s*1\b)")
SEQUENCE: Final = regex(r"seq((?: -?\d{1,3}){1,3})")
COUNTS: Final = regex(r"\|\s*wc\s+-l\s*$")
TO_FILE: Final = regex(r"(?<![2&])>\s*(?![\s&]|/dev/)")
_HOST: Final = regex(r"\bhostname\b|\bgetent\b|\bnslookup\b|\bdig\b|\bhost\s|scontrol\s+getaddrs|\bifconfig\b|\bip\s+a")


def answer_of(command: str, expanded: str, folder: str, gpus: str | None, *, in_task: bool) -> str | None:
    """The output of a command that asks for nodes, GPUs or a folder, as a value of a pod."""
    listed = "scontrol" in command and "hostname" in command
    if listed or ("SLURM_JOB_NODELIST" in expanded and not in_task) or "SLURM_NODELIST" in command:
        return ADDRESS if FIRST.search(command) or "getent" in command else NODES
    if (_HOST.search(command) and (not in_task or ADDRESS in expanded)) or "MASTER_ADDR" in expanded:
        return ADDRESS
    if re.match(r"nvidia-smi\b.*wc\s+-l", command):
        return gpus
    if (base := re.fullmatch(r"basename\s+(\S+)(?:\s+(\S+))?", expanded)) and not {START, OPEN} & {*expanded}:
        return base[1].rstrip("/").rpartition("/")[2].removesuffix(base[2] or "")
    if re.match(r"(?:dirname|readlink|realpath|cd|pwd)\b", command):
        return _folder(expanded, folder)
    return command.split()[1] if re.fullmatch(r"which\s+\S+", command) else None


def _folder(command: str, folder: str) -> str | None:
    """The output of a command that asks for a folder."""
    command = re.sub(r"\s*(?:[12&]?>\s*/dev/null|2>&1)", "", command)
    if re.fullmatch(r"pwd(?:\s+-[LP])?", command):
        return folder
    asked = re.fullmatch(
        r"(cd|dirname|readlink|realpath)(?:\s+-[\w-]*)*\s+(\S+)(?:\s*(?:&&|;)\s*pwd(?: -P)?)?", command
    )
    is_name = asked is not None and asked[1] == "dirname" and "/" in asked[2].rpartition(CLOSE)[2]
    if asked is None or not (is_known(asked[2]) or is_name):
        return None
    if asked[1] == "dirname":
        return f"{START}/.." if asked[2] == START else posixpath.dirname(asked[2]) or "."
    return absolute(joined(folder.removeprefix(START).lstrip("/") if folder.startswith(START) else folder, asked[2]))


_FORM: Final = regex(r"%0?\d{0,3}([sd])")


def formatted(form: str, words: Sequence[str]) -> str | None:
    """The text of `printf`, as far as it is known."""
    left = [*words]

    def one(match: re.Match[str]) -> str:
        word = left.pop(0) if left else ""
        return match[0] % (int(word or 0) if match[1] == "d" else word)

    with suppress(ValueError):  # of `%d` and another text
        text = _FORM.sub(one, form)
        if (
            not left
            and ("%d" not in form or all(map(is_known, words)))
            and not re.search(r"[%\\]", _FORM.sub("", form))
        ):
            return text
    return None
