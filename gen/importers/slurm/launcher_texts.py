"""`mpirun` in a text of the shell, such as a loop or a pipe that stays in the command: it has the hosts of the job."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gen.base.shell_script import nodes_below, syntax_tree
from gen.importers.draft import JobDraft
from gen.importers.slurm.bash_text import MAX_LEVELS
from gen.importers.slurm.expansion import source_text
from gen.importers.slurm.site import OF_MACHINES, Layout
from gen.importers.slurm.steps import Options, Run, launcher_of, without_set
from gen.job.launchers import base, mpirun


def _starts(run: Run) -> Iterator[Run]:
    """The starts of `mpirun` in a text, with their words as they are written."""
    top = syntax_tree(source_text(run.text).encode("utf-8", "replace"), MAX_LEVELS)
    for node in nodes_below(top, "command"):
        words = tuple((one.text or b"").decode("utf-8", "replace") for one in node.named_children)
        launcher, at = launcher_of(words)
        if launcher is mpirun.LAUNCHER:
            yield Run(words=words, place=run.place, launcher=launcher, at=at)


def starts_mpirun(run: Run) -> bool:
    """Whether a text of the shell starts `mpirun`."""
    return "mpi" in run.text and any(True for _ in _starts(run))


def on_hosts(draft: JobDraft, run: Run, layout: Layout) -> Run:
    """A text with each `mpirun` on the hosts of the job, which it knows by itself."""
    text = run.text
    for one in _starts(run):
        given = without_set(one)
        for option in given.left:
            draft.drop(run.place, f"`{source_text(option)[:60]}`", *OF_MACHINES)
        old = " ".join(one.words)
        new = old
        for option in (*given.left, *_of_hosts(given)):
            new = new.replace(f" {option}", "", 1)
        number = given.values.get(base.ALL_PROCESSES, ("", ""))[1]
        if number.isdecimal() and int(number[:6]) > layout.nodes * layout.per_node:
            start = " ".join(one.words[: one.at + 1])
            new = new.replace(start, f"{start} --oversubscribe", 1)
        text = text.replace(old, new)
    return replace(run, text=text)


def _of_hosts(given: Options) -> Iterator[str]:
    """The option that names the hosts of the script, in both of its forms."""
    name, value = given.values.get(base.HOSTS, ("", ""))
    if name:
        yield from (f"{name} {value}", f"{name}={value}")
