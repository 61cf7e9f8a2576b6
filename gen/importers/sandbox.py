"""Runs shell scripts without their programs: a recorder takes the place of each one, and notes its arguments.

The scripts run in namespaces of Linux of their own, without network, capabilities and the files of the user: the root
is in memory, with the libraries and a few tools of `/usr`, which they can only read. Everything else that they start
is a recorder. One that is missing is added, and the scripts run again.
"""

from __future__ import annotations

import posixpath
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from gen.base import UsageError, regex
from gen.base.shell_script import nodes_below, syntax_tree

HOME: Final = "/srv/users/me/work"
"""The initial working directory of the scripts."""
BATCH: Final = -1
"""The task of a process that is none."""
MOST_TASKS: Final = 64
_ENDS: Final = regex(
    r"(?m)(?<!\\\n)^([ \t]*)(?:set(?:\s+-[Eeuxvo]+)+(?:\s+pipefail)?"
    r"|kill(?:\s+-\w+)*(?:\s+\"?\$(?:!|\w+|\{\w+\})\"?)+)(?=\s*(?:$|[#;&]|\d*[<>]))"
)
"""`set -eu`: a program that the sandbox lacks does not end the script. `kill`: recorders may be slow."""
_SECONDS: Final = 60
_MOST_RUNS: Final = 8
_MOST_BYTES: Final = 20_000_000
_LONGEST_NAME: Final = 500
_LONGEST_FILE_NAME: Final = 255  # in bytes
_COUNT: Final = regex(r"-1|[0-9]{1,6}")
_END: Final = "gen:end"
_STARTED: Final = "started:"
"""Before the records, once all is set up."""
_MISSING: Final = regex(
    r"(?m)^(?:[^:\n]+: line \d+: |[^:\n]+: \d+: )(?:exec: |cannot open )?([^\n]+?): "
    r"(?:No such file(?: or directory)?|not found|cannot execute.*)$"
    r"|^(?:/\S*/)?(?:bash|sh|dash): (?:0: )?(?:cannot open )?(?P<script>[^:\n]+): No such file(?: or directory)?$"
    r"|^(?:env|nohup|timeout|xargs|nice|stdbuf)[^'\n]*'?([^'\n:]+)'?: No such file or directory$"
)
_ENTERED: Final = regex(r"(?m)\bcd to ([^\n]*)$")
"""Working directories of scripts: as in the prelude, or as in a shell without one that does not find them."""
_TOOLS: Final = (
    "bash sh head tail sed awk grep egrep cut tr sort uniq wc seq tee expr env printf test [ find xargs paste rev tac "
    "nl true false du df nohup timeout nice stdbuf echo pwd dirname basename readlink realpath mkdir rmdir rm cp mv ln "
    "ls cat touch chmod stat printenv comm cksum md5sum sha1sum od getopt"
)
_ANSWERS: Final = (
    "hostname host scontrol getent nslookup dig date uuidgen shuf mktemp nvidia-smi rocm-smi nproc whoami id which "
    "squeue sinfo sacct scancel seff sprio sshare sstat ip ifconfig free lscpu ibstat sleep nvcc lsb_release uname top "
    "ps tput clear lspci pgrep pkill killall time unbuffer lsof netstat ss mkdir rmdir rm cp mv ln ls cat touch chmod "
    "stat"
)
"""Programs that ask a machine or change its files. The answers are names and numbers of the run."""

_FOLDER: Final = Path(__file__).parents[1] / "templates/sandbox"


def source(name: str, **values: str | Collection[str]) -> str:
    """A script of the sandbox, behind its values as variables: of several words, with a blank around each."""
    text = (_FOLDER / f"{name}.sh").read_text("utf-8")
    if not values:
        return text
    texts = {key: one if isinstance(one, str) else f" {' '.join(one)} " for key, one in values.items()}
    return "\n".join(["#!/bin/bash", *(f"{key}={shlex.quote(one)}" for key, one in texts.items()), text])


class Process(Struct, frozen=True, kw_only=True):
    """A process with its arguments and variables."""

    words: tuple[str, ...]
    env: Mapping[str, str]
    task: int = BATCH
    folder: str = HOME


class Record(Struct, frozen=True, kw_only=True):
    """A program that a process has started."""

    task: int
    line: int
    """Line of the script; 0 if it is unknown."""
    folder: str
    env: Mapping[str, str]
    words: tuple[str, ...]


class Recording(Struct, frozen=True, kw_only=True):
    """All programs that processes have started, in order."""

    records: tuple[Record, ...]
    ended: bool = True
    """Whether they ended in time."""
    errors: str = ""
    """The messages of the shells and their tools."""
    failed: bool = False
    """Whether one of the programs has failed that had to."""
    tested: bool = True
    """Whether each process tests its status, as far as bash knows."""
    statuses: Mapping[int, int] = {}
    """How the processes ended, by task."""
    runs: int = 1
    """How often they ran until they lacked nothing."""


class Learned(Struct):
    """Programs, folders and files that processes lacked. Later ones have them from the start, and need fewer runs."""

    programs: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    inputs: set[str] = field(default_factory=set)

    @property
    def size(self) -> int:
        return len(self.programs) + len(self.folders) + len(self.inputs)


_NUMBER: Final = regex(r"(?<![\\$])(\\?)\$\\?\$(?![({$\w])")
"""`$$`, which differs in each run."""


def without_ends(text: str, *, with_errors: bool = False) -> str:
    """A script that an error or a program that is missing does not end, with an id for the number of its shell. With
    `with_errors`, only a variable without a value does not end it.
    """
    arrays = [] if "=(" not in text else nodes_below(syntax_tree(text.encode("utf-8", "replace")), "array")
    inside = [(one.start_byte, one.end_byte) for one in arrays]

    def changed(match: re.Match[str]) -> str:
        at = len(text[: match.start()].encode("utf-8", "replace")) if inside else 0
        return match[0] if any(first < at < last for first, last in inside) else f"{match[1]}{kept(match)}"

    def kept(match: re.Match[str]) -> str:
        words = [one.replace("u", "") if one[0] == "-" else one for one in match[0].split() if with_errors]
        words = [one for one in words if one != "-"]
        return " ".join(words) if words[:1] == ["set"] and words[1:] else "true"

    return _NUMBER.sub(r"\1${GEN_ID}", _ENDS.sub(changed, text))


def refusal() -> str | None:
    """Why there can be no sandbox here; None if there can be one."""
    for tool in ("unshare", "setpriv", "pivot_root", "bash"):
        if shutil.which(tool, path="/usr/sbin:/sbin:/usr/bin:/bin") is None:
            return f"`{tool}` is not installed; it is a part of {'bash' if tool == 'bash' else 'util-linux'}"
    done = subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False)  # noqa: S603 - a constant
    if done.returncode != 0:
        return f"the system allows no namespaces: {done.stderr.decode('utf-8', 'replace').strip()[-200:]}"
    return None


_UNSHARE: Final = (
    *("unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts"),
    *("--fork", "--kill-child", "--"),
)


def recorded(
    processes: Sequence[Process],
    *,
    programs: Iterable[str] = (),
    scripts: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    names: Sequence[str] = (),
    learned: Learned | None = None,
    fails: Collection[str] = (),
) -> Recording:
    """Run processes one after another. `scripts` are programs that take the place of recorders, by name; `names` are
    variables that each record has. `fails` are programs with their task, of which the first one of each task fails.
    """
    learned = learned or Learned()
    known, made = learned.programs, learned.folders
    known |= _recorders(programs)
    last = Recording(records=())
    for run in range(1, _MOST_RUNS + 1):
        last, missing = _once(processes, learned, scripts or {}, files or {}, names, fails)
        last = replace(last, runs=run)
        again = [
            one for one in missing & known if one.startswith("/gen/bin/")
        ]  # not programs, but files that they read
        places = {HOME, *made, *(one.folder for one in last.records)}
        inputs = {f"{place}/{posixpath.basename(one)}" for one in again for place in places} - learned.inputs
        learned.inputs |= inputs
        missing -= known
        new = {one for one in missing if one.startswith("/gen/bin/") or one.rpartition("/")[0] in made}
        if not new and not inputs and {one.rpartition("/")[0] for one in missing} <= {*made, "/gen/bin"}:
            break
        known |= new  # a file that a script writes is missing only without its folder
        made |= {one.rpartition("/")[0] for one in missing} - {"/gen/bin"}
    known |= _recorders({one.words[0] for one in last.records} - (scripts or {}).keys())
    return last


def _recorders(programs: Iterable[str]) -> set[str]:
    """The paths of programs that are recorded. Only bash says which ones are missing if their errors are hidden."""
    return {f"/gen/bin/{one}" for one in programs if re.fullmatch(r"[\w.+-]+", one) and one not in _TOOLS.split()}


def _once(
    processes: Sequence[Process],
    learned: Learned,
    scripts: Mapping[str, str],
    files: Mapping[str, str],
    names: Sequence[str],
    fails: Collection[str],
) -> tuple[Recording, set[str]]:
    """The recording, and the paths of missing programs and files."""
    with tempfile.TemporaryDirectory(prefix="gen-") as folder:
        Path(folder, "root").mkdir()
        _write(Path(folder, "gen"), learned, scripts, files)
        Path(folder, "gen/fails").write_text("".join(f"{one}\n" for one in fails), "utf-8")
        Path(folder, "gen/driver").write_text("\n".join(_line(one, names) for one in processes), "utf-8")
        words = [*_UNSHARE, "bash", "-pc", source("setup"), "_", folder, str(_MOST_BYTES), _STARTED]
        ended, raw = True, b""
        with Path(folder, "errors").open("w+b") as errors:  # with the limit of a file
            try:
                done = subprocess.run(  # noqa: S603 - a constant; the script is confined
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    timeout=_SECONDS,
                    check=False,
                    start_new_session=True,  # `kill 0` of a script reaches its process group, also outside
                    env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin", "LC_ALL": "C"},
                )
                raw = done.stdout
            except subprocess.TimeoutExpired:
                ended = False
            errors.seek(0)
            said = errors.read(1_000_000).decode("utf-8", "replace")
        if ended and not raw.startswith(_STARTED.encode()):
            raise UsageError(f"the sandbox does not start: {said.strip()[-300:]}")
        every = list(_records(raw.removeprefix(_STARTED.encode())))
        records = tuple(one for one in every if one.words[0] != _END)
        ends = [one for one in every if one.words[0] == _END and _COUNT.fullmatch("".join(one.words[1:2]))]
        last = Recording(
            records=records,
            ended=ended,
            errors=said,
            failed=any("failed" in one.words[-1] for one in ends),
            tested=not any("untested" in one.words[-1] for one in ends),
            statuses={one.task: int(one.words[1]) for one in ends},
        )
        return last, _missing(
            said, {HOME, *learned.folders, *(one.folder for one in processes), *(one.folder for one in records)}
        )


def _write(own: Path, learned: Learned, scripts: Mapping[str, str], files: Mapping[str, str]) -> None:
    """The folder `/gen` of the sandbox: its programs and its tools, and what its setup makes."""
    for name in ("bin", "start", "real", "tools", "out"):
        (own / name).mkdir(parents=True)
    for name, text in {"record": source("record"), "answer": source("answer")}.items():
        _program(own / name, text)
    for name, text in scripts.items():
        _program(own / "start" / name, text)
    (own / "prelude").write_text(source("prelude"), "utf-8")
    tools = {name: f"/gen/real/{file}" for name, file in _tools().items()}
    for name, real in {**tools, "time": "/gen/answer"}.items():
        (own / "tools" / name).symlink_to(real)
    for name in _ANSWERS.split():
        (own / "start" / name).symlink_to("/gen/answer")
    found = {one for one in learned.programs if posixpath.dirname(one) == "/gen/bin"}
    names = (one for one in map(posixpath.basename, found) if len(one.encode("utf-8", "replace")) <= _LONGEST_FILE_NAME)
    for link in (own / "start" / name for name in names):
        if not link.is_symlink() and not link.exists():
            link.symlink_to("/gen/record")
    for name, paths in {**asdict(learned), "programs": learned.programs - found}.items():
        (own / name).write_text("".join(f"{one}\n" for one in sorted(paths)), "utf-8")
    for path, text in files.items():
        target = own / "files" / posixpath.normpath(f"/{path}").lstrip("/")  # `..` ends at the root
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")


def _tools() -> dict[str, str]:
    """The tools of this machine, and the names of their files. `sh` is that of most images, if it is installed."""
    found = {name: shutil.which(name, path="/usr/bin") for name in _TOOLS.split()}
    found["sh"] = shutil.which("dash", path="/usr/bin") or found["sh"]
    return {name: Path(path).resolve().name for name, path in found.items() if path is not None}


def _program(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o755)


def _missing(said: str, folders: Iterable[str]) -> set[str]:
    """The paths of programs that were not found, in any of the folders."""
    entered = {
        posixpath.normpath(posixpath.join(folder, match[1]))
        for match in _ENTERED.finditer(said)
        for folder in folders
        if len(match[1]) < _LONGEST_NAME
    }
    paths = {f"{one}/." for one in entered}
    folders = {*folders, *entered}
    for match in _MISSING.finditer(said):
        name = next(one for one in match.groups() if one)
        if not name.strip() or len(name) > _LONGEST_NAME or "\n" in name:
            continue
        if match["script"] and not name.startswith("/"):
            paths |= {f"{one}/{name}" for one in folders}
        if name.startswith("/"):
            paths.add(name)
        else:
            paths |= {f"{one}/{name}" for one in folders} if "/" in name else {f"/gen/bin/{name}"}
    return paths


def _line(process: Process, names: Sequence[str]) -> str:
    """The command of a process for the driver."""
    env = {
        "HOME": "/root",
        **process.env,
        "PATH": "/gen/bin:/usr/bin:/bin",
        "LC_ALL": "C",
        "BASH_ENV": "/gen/prelude",
        "GEN_TASK": str(process.task),
        "GEN_NODE": str(max(process.task, 0)),
        "GEN_NAMES": " ".join(names),
    }
    variables = [f"{name}={value}" for name, value in env.items()]
    words = ["env", "-i", *variables, *process.words]
    folder = shlex.quote(process.folder)
    # programs in the background keep the pipe open
    program = f"( cd {folder} && {shlex.join(words)} 19>&1 </dev/null >/dev/null )"
    values = f'{process.task} 0 / 0 3 {_END} $? "$(echo /gen/out/*ed)"'
    end = f"printf '%s\\0' {values} > /gen/out/records/end{process.task}"
    return f"mkdir -p {folder}; {{ {program}; {end}; }} | timeout 5 cat"


def _records(raw: bytes) -> Iterator[Record]:
    """The records up to one that a script has broken."""
    fields = iter(raw.decode("utf-8", "replace").split("\0"))
    while True:
        task, line, folder, size = (next(fields, "") for _ in range(4))
        if not all(map(_COUNT.fullmatch, (task, line, size))):
            return
        values = [*islice(fields, max(int(size), 0))]
        number = next(fields, "")
        words = tuple(islice(fields, int(number))) if _COUNT.fullmatch(number) and int(number) > 0 else ()
        if not words:
            return
        if not words[0].strip():  # no file has this name
            continue
        env = {name: value for name, _, value in (one.partition("=") for one in values)}
        yield Record(task=int(task), line=int(line), folder=folder, env=env, words=words)
