"""Counts the findings about the commands of public repositories, in jobs that fit them.

    python -m scripts.command_corpus REPOSITORY… [--show CODE]

Reads shell scripts, and shell code in pages, of Git repositories, with a work tree or without, and puts each script
and each command of a page into a job: of MPI for `mpirun` and `horovodrun`, otherwise of PyTorch, with the GPUs and
pods that the command names. What gen reports about such a job is either a mistake that the command would make in a
pod, such as `srun`, or a false finding: `--show CODE` prints the places, for a person to judge. Prints the number of
commands that start a launcher, and of findings by code.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import tempfile
import textwrap
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from gen.job.launchers import launches
from gen.job.script import read_script
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

_LAUNCHER = re.compile(
    r"\b(?:torchrun|accelerate launch|deepspeed|mpirun|mpiexec|horovodrun|colossalai run|torch\.distributed\.\w+"
    r"|python3? (?:-\w+ )*\S*\.py)\b"
)
_BLOCKS = (
    re.compile(r"(?ms)^[ \t]*```[ \t]*(?:ba|z)?sh(?:ell)?\b.*?\n(.*?)^[ \t]*```"),
    re.compile(r"(?m)^\.\. code-block:: (?:ba)?sh(?:ell)?\n\n((?:[ \t]+.*\n|\n)+)"),
)
"""Shell code in Markdown and reStructuredText."""
_PROMPT = re.compile(r"^[ \t]*(?:[$>%#] |\(\w+\)\$ )", re.MULTILINE)
_COMMAND = re.compile(r"(?:[^\n\\]|\\.|\\\n)+")
_VALUE = r"[ =\"']*\$?\{?([0-9]+|[A-Za-z_]\w*)"
_GPUS = re.compile(rf"(?i)(?:nproc[-_]?per[-_]?node|num[-_]gpus|\bn?gpus?_per_node|\bnum_?gpus?|\bn_?gpus?){_VALUE}")
_PROCESSES = re.compile(rf"(?:--num[-_]processes|-np|--np|-n)[ =]{_VALUE}")
_MASK = re.compile(r"CUDA_VISIBLE_DEVICES=[\"']?([0-9](?:,[0-9])*)")
_PODS = re.compile(rf"(?i)(?:nnodes|num[-_]machines|num[-_]nodes|n_nodes){_VALUE}")
_MPI = re.compile(r"\b(?:mpirun|mpiexec|horovodrun(?=.* (?:-H|--host)))\b")
_MOST = 20_000
"""Characters of a script."""
OVERLAY = """\
kubernetes: "1.34"
operators: {mpi: kubeflow.org/v2beta1}
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """A command and where it is from."""

    source: str
    text: str
    is_script: bool


def samples(repository: Path) -> Iterator[Sample]:
    """The commands of a repository that start a launcher."""
    git = ["git", "-C", str(repository)]
    listed = subprocess.check_output([*git, "ls-tree", "-rz", "HEAD"], text=True)  # noqa: S603 - reads objects
    files = [one.partition("\t") for one in listed.split("\0") if one.endswith((".sh", ".md", ".rst"))]
    hashes = "".join(f"{about.split()[2]}\n" for about, _, _ in files)
    read = subprocess.check_output([*git, "cat-file", "--batch"], input=hashes.encode())  # noqa: S603 - as above
    seen: set[str] = set()
    with io.BytesIO(read) as texts:
        for _, _, path in files:
            header = texts.readline().split()
            if header[-1] == b"missing":
                continue
            data = texts.read(int(header[-1]) + 1)
            text, is_script = data.decode("utf-8", "replace").replace("\r\n", "\n"), path.endswith(".sh")
            for one in [text] if is_script else _commands(text):
                if _LAUNCHER.search(one) and one not in seen and len(one) < _MOST:
                    seen.add(one)
                    yield Sample(f"{repository.parent.name}:{path}", one, is_script)


def _commands(page: str) -> Iterator[str]:
    for block in (one for form in _BLOCKS for one in form.finditer(page)):
        code = textwrap.dedent(block[1])
        for command in _COMMAND.finditer(_PROMPT.sub("", code)):
            if not command[0].lstrip().startswith("#"):
                yield command[0].strip()


def _numbers(pattern: re.Pattern[str], text: str) -> list[int]:
    """Values of options: numbers, and variables with one number that the text assigns."""
    found = []
    for value in pattern.findall(text):
        given = [value] if value.isdecimal() else re.findall(rf"\b{value}=([0-9]{{1,3}})\b", text)
        found += [int(one) for one in given]
    return found


def job(sample: Sample) -> str:
    """A job with the GPUs and pods that the command names."""
    text = sample.text
    of_mpi = _MPI.search(text) is not None
    pods = max(_numbers(_PODS, text), default=1) or 1
    every = max(_numbers(_PROCESSES, text), default=pods)
    masks = [len(one.split(",")) for one in _MASK.findall(text)]
    gpus = max(_numbers(_GPUS, text) or masks, default=every // pods) or 1
    if of_mpi:
        pods, gpus = max(every // 8, 1), min(every, 8)
    folder = "code/project"
    if sample.is_script and "../" in text:  # it runs in its own folder
        folder += "/" + sample.source.partition(":")[2].rpartition("/")[0]
    body: dict[str, object] = {
        "kind": "mpi" if of_mpi else "pytorch",
        "image": "registry.example.com/team/pytorch:1",
        "command": ["bash", "-c", f"cd {folder} || exit\n{text}"] if sample.is_script else f"cd {folder} && {text}",
        "workers": pods,
        "gpus": gpus,
        "timeout": "24h",
        "code": {"git": "https://example.com/project.git", "ref": "6c3e1f0a9d2b4c5e8f7a6b1c0d9e8f7a6b5c4d3e"},
    }
    if of_mpi:
        body["roles"] = {"launcher": {"cpu": 1, "memory": "1Gi"}}
    return yaml.safe_dump(body, sort_keys=False, width=1_000_000)


def training_lines(text: str) -> int:
    """Number of programs in a command that a launcher starts."""
    return sum(bool(launches(program.words)) for program in read_script(text).programs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--show", default="", help="code of findings to print with their lines; `all` for every one")
    given = parser.parse_args()
    unreadable = lines = commands = 0
    codes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        repo = Repository.at(Path(folder))
        repo.overlay(OVERLAY)
        by_file: dict[str, Sample] = {}
        for repository in given.repositories:
            own = [one for one in samples(repository) if "{{" not in one.text]
            counts = [training_lines(one.text) for one in own]
            for sample in own:
                file = f"jobs/team/job-{len(by_file)}.yaml"
                (repo.root / file).parent.mkdir(parents=True, exist_ok=True)
                (repo.root / file).write_text(job(sample), "utf-8")
                by_file[file] = sample
            unreadable += sum(not read_script(one.text).readable for one in own)
            lines, commands = lines + sum(counts), commands + len(own)
            print(f"{repository.parent.name}: {len(own)} commands, {sum(counts)} training lines")
        report, _ = repo.render()
    for finding in report.findings:
        codes[finding.code] += 1
        if given.show in (finding.code, "all"):
            source = by_file[str(finding.place).partition(":")[0]].source
            print(f"{finding.code}\t{source}\t{finding.message}\t{finding.hint}")
    print(f"{commands} commands with {lines} training lines; {unreadable} that the reader does not understand")
    for code, count in codes.most_common():
        print(f"{count:6} {code}")


if __name__ == "__main__":
    main()
