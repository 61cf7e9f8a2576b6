"""Imports random changes of the scripts and manifests in any folders, and looks for what an import loses in silence.

    python -m scripts.mutated_imports FOLDER… [--count N] [--seed N] [--prove] [--only NUMBER] [--keep FOLDER]
    python -m scripts.mutated_imports FOLDER… --unmutated [--prove] [--list]

Reads the batch scripts of Slurm in the folders, scripts with `arena submit`, manifests, compiled pipelines and
requests of BatchCompute. Each input is one of them with up to three changes, the same for a seed and a number. A batch
script has the site file that `gen import slurm --site-template` makes of its folder, or of itself if it is not ready
with that. Counts the verdicts, and prints each traceback, each import that takes longer than `--seconds`, and each job
that is called ready and that `gen render` refuses.

`--prove` takes batch scripts that are ready without a change. If they are still ready, it runs them in the sandbox of
`gen import --prove`, and prints each difference that no finding at its line names, as silent. Where bash itself refuses
the syntax of a changed script (`bash -n`), a difference is counted apart, since bash ends the script there; so is one
behind a line where bash reports an error in the sandbox, or ends with one.

`--keep` writes the inputs of all that is printed into a folder, `--only` repeats one of them, and `--from` continues.
`--unmutated` imports each file once as it is, with the site file of its folder, and counts the scripts with a launcher
that are ready.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, Self

import yaml

from gen.base import INTERNAL_ERROR, Findings, UsageError
from gen.importers import IMPORTERS, ImportInput
from gen.importers.proof import Outcome
from gen.importers.slurm.importer import read_script
from gen.importers.slurm.site_template import site_template
from scripts.mutations_of_imports import changed_object, changed_script
from tests.importers.support import run_import
from tests.support import Repository, rendered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import FrameType

    from gen.report.formats import Report

OVERLAY: Final = 'kubernetes: "1.34"\n'
_IMAGE: Final = "registry.example.com/train:1"
_LARGEST: Final = 100_000
_SLURM: Final = re.compile(r"(?m)^#SBATCH\b")
_ARENA: Final = re.compile(r"\barena\s+(?:submit|cron)\s")
_PIPELINE: Final = re.compile(r"(?m)^schemaVersion:|^pipelineInfo:|^kind: *Workflow$")
_MANIFEST: Final = re.compile(
    r"(?m)^ *[\"']?kind[\"']?: *[\"']?(?:\w*Job|CronJob|Job|\w*Workflow\w*|Pod|Deployment|JobSet)\b"
)
_REQUEST: Final = re.compile(r"\b(?:JobName|EnvName)\b[\"']?:")
LAUNCHER: Final = re.compile(
    r"\b(?:torchrun|accelerate\s+launch|deepspeed|mpirun|mpiexec|(?:torch\.distributed|accelerate\.commands)\.\w+)\b"
)
_PROGRAM: Final = re.compile(r"(?m)^\s*#.*$")
_GOOD: Final = (Outcome.READY, Outcome.NEEDS)
_SECONDS_OF_PROOF: Final = 900
_MOST_CHOICES: Final = 1000
_TRIES: Final = 4
"""Changes of a script that are tried until bash accepts one; after them, it is as it is."""


class TooSlow(BaseException):
    """Not an Exception, so that nothing contains it."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that an importer reads."""

    path: Path
    importer: str
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """How one import ended. `problems` are printed."""

    outcome: str
    problems: tuple[str, ...] = ()
    proof: str = ""


def sources(folders: Iterable[Path]) -> list[Source]:
    """The files of the folders that an importer reads."""
    found = []
    for path in sorted(one for folder in folders for one in folder.rglob("*") if one.is_file()):
        text = path.read_bytes()[:_LARGEST].decode("utf-8", "replace").replace("\r\n", "\n")
        importer = importer_of(path.suffix, text)
        if importer and len(text) < _LARGEST:
            found.append(Source(path, importer, text))
    return found


def importer_of(suffix: str, text: str) -> str:
    """The tool that wrote a text; none if it is unknown."""
    if suffix not in (".yaml", ".yml", ".json"):
        return "slurm" if _SLURM.search(text) else "arena" if _ARENA.search(text) else ""
    if _PIPELINE.search(text):
        return "kfp"
    if _MANIFEST.search(text):
        return "manifests"
    return "batchcompute" if _REQUEST.search(text) else ""


def documents_of(text: str) -> list[Any]:
    """The documents of a file of YAML or JSON; none if it is invalid."""
    try:
        return [one for one in yaml.safe_load_all(text) if isinstance(one, dict | list)]
    except (yaml.YAMLError, ValueError):
        return []


def changed(random: Random, source: Source) -> str:
    """An input. Most scripts are such that bash accepts them."""
    if source.importer in ("slurm", "arena"):
        text = changed_script(random, source.text)
        for _ in range(_TRIES if is_accepted(source.text) else 0):
            if is_accepted(text):
                break
            text = changed_script(random, source.text)
        return text
    documents = documents_of(source.text)
    if not documents:
        return source.text
    made = changed_object(random, documents)
    return (
        json.dumps(next(iter(made), None))
        if source.path.suffix == ".json"
        else yaml.safe_dump_all(made, sort_keys=False)
    )


def is_accepted(text: str) -> bool:
    """Whether bash accepts the syntax of a script, which it only reads."""
    done = subprocess.run(["/bin/bash", "-n"], input=text.encode(), capture_output=True, check=False)
    return done.returncode == 0 and not done.stderr


class Imports:
    """Imports inputs into a repository of their own."""

    def __init__(self, scripts: Sequence[Source], *, seconds: int, prove: bool) -> None:
        self._seconds, self._prove = seconds, prove
        self._sites: dict[Path, str] = {}
        self._own: dict[Path, tuple[str, bool]] = {}
        self._scripts = scripts

    def site_of(self, source: Source) -> str:
        """The site file of a folder of scripts."""
        folder = source.path.parent
        if folder not in self._sites:
            texts = [(str(one.path), one.text) for one in self._scripts if one.path.parent == folder]
            self._sites[folder] = _completed(site_template(texts))
        return self._sites[folder]

    def own_site_of(self, source: Source) -> tuple[str, bool]:
        """The site file of a folder, or of the script alone if it is ready only with that; and whether it is ready."""
        if source.path not in self._own:
            site = self.site_of(source)
            ready = self.result(source, source.text, site, prove=False).outcome in _GOOD
            if not ready:
                site = _with_all(source, _completed(site_template([(str(source.path), source.text)])))
                ready = self.result(source, source.text, site, prove=False).outcome in _GOOD
            self._own[source.path] = site, ready
        return self._own[source.path]

    def result(self, source: Source, text: str, site: str, *, prove: bool | None = None) -> Result:
        """The result for one input."""
        prove = self._prove if prove is None else prove
        first = self._import(source, text, site, prove=False)
        if not prove or source.importer != "slurm" or first.problems or first.outcome not in _GOOD:
            return first
        proven = self._import(source, text, site, prove=True)
        if proven.proof in ("silent", "not proven") and not is_accepted(text):
            return Result(first.outcome, proof="refused by bash")
        return proven

    def _import(self, source: Source, text: str, site: str, *, prove: bool) -> Result:
        with tempfile.TemporaryDirectory() as folder:
            repository = Repository.at(Path(folder, "repository"))
            repository.overlay(OVERLAY)
            file = Path(folder, source.path.name)
            file.write_text(text, "utf-8")
            options: dict[str, Any] = {"namespace": "team", "overlay": "dev", "yes": True}
            options |= {"image": _IMAGE} if "image" in IMPORTERS[source.importer].options else {}
            if source.importer == "slurm":
                Path(folder, "site.yaml").write_text(site, "utf-8")
                options |= {"site": Path(folder, "site.yaml"), "prove": prove}
            try:
                with _Limit(_SECONDS_OF_PROOF if prove else self._seconds):
                    report, _ = run_import(repository.root, str(file), importer=source.importer, **options)
                    outcome = outcome_of(report)
                    problems = _internal(report)
                    if outcome in _GOOD and not prove:
                        problems += _refused(repository.root)
            except TooSlow:
                return Result("hang", ("takes too long",))
            except UsageError as error:
                return Result("usage", () if "not" in str(error) else (str(error),))
            except Exception:  # noqa: BLE001 - what it looks for
                return Result("traceback", (traceback.format_exc(limit=-4),))
            proof, silent = _proof(report) if prove else ("", ())
            return Result(outcome, (*problems, *silent), proof)


def _completed(template: str) -> str:
    """A template of a site file with words in place of its placeholders. The folder of `sbatch` is on a volume."""
    known = {"IMAGE": _IMAGE, "PWD": "/data"}
    text = re.sub(r"<(\w+)>", lambda match: known.get(match[1], match[1].lower()), template)
    fields = yaml.safe_load(text)
    if "PWD" not in fields.get("define", {}):
        return text
    fields["paths"] = {**fields.get("paths", {}), "/data": "data"}
    return yaml.safe_dump(fields, sort_keys=False)


def _with_all(source: Source, site: str) -> str:
    """A site file with all values and folders that a script lacks, more than a template has."""
    fields = yaml.safe_load(site)
    _, lacking = read_script(
        ImportInput(file=str(source.path), text=source.text, namespace="team", image=_IMAGE), Findings()
    )
    fields["define"] = {name: name.lower() for name in lacking.values} | fields.get("define", {})
    fields["paths"] = dict.fromkeys(lacking.folders, "data") | fields.get("paths", {})
    return yaml.safe_dump({name: value for name, value in fields.items() if value}, sort_keys=False)


class _Limit:
    """A time limit of a block."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def __enter__(self) -> Self:
        signal.signal(signal.SIGALRM, self._end)
        signal.alarm(self._seconds)
        return self

    def __exit__(self, *_: object) -> None:
        signal.alarm(0)

    @staticmethod
    def _end(_: int, __: FrameType | None) -> None:
        raise TooSlow


def outcome_of(report: Report) -> str:
    """The verdict of a report: the worst of its jobs."""
    first = report.summary.partition("\n")[0]
    if "ready" in first.partition(":")[0]:
        return Outcome.READY
    return next((one for one in reversed(Outcome) if one in report.summary), "refused")


def _internal(report: Report) -> tuple[str, ...]:
    return tuple(f"{one.place}: {one.message}; {one.hint}" for one in report.findings if one.code == INTERNAL_ERROR)


def _refused(root: Path) -> tuple[str, ...]:
    """Why `gen render` refuses what an import called ready."""
    report, code = rendered(root)
    if code == 0:
        return ()
    return tuple(f"called ready, but does not render: {one.place}: {one.message}" for one in report.findings)[:3]


def _proof(report: Report) -> tuple[str, tuple[str, ...]]:
    """The result of a proof, and its differences."""
    silent = tuple(f"silent: {one.place}: {one.message}" for one in report.findings if one.code == "differs")
    line = next((one for one in report.summary.splitlines() if " the same programs " in one or "not proven" in one), "")
    if "the script fails" in line:
        return "the original fails", ()
    if "not proven" in line or not line:
        return "not proven", (line,)
    if silent or "does not start" in line:
        return "silent", silent
    return ("named" if "apart from" in line else "same"), ()


def inputs(
    found: Sequence[Source], seed: int, numbers: Iterable[int], is_usable: Callable[[Source], bool]
) -> Iterator[tuple[int, Source, Random]]:
    """Numbers, sources and random numbers of the inputs. Each folder has the same chance, however many files it has."""
    folders: dict[Path, list[Source]] = {}
    for one in found:
        folders.setdefault(one.path.parent, []).append(one)
    names = sorted(folders)
    for number in numbers:
        random = Random(f"{seed}:{number}")  # noqa: S311 - repeatable
        for _ in range(_MOST_CHOICES):
            source = random.choice(folders[random.choice(names)])
            if is_usable(source):
                yield number, source, random
                break


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the problems and the numbers. 1 if there are problems."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--count", type=int, default=1000, help="number of inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=20, help="limit of one import")
    parser.add_argument("--prove", action="store_true", help="prove the batch scripts that are ready")
    parser.add_argument("--only", type=int, help="number of the only input or file")
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first input or file")
    parser.add_argument("--tool", help="import only the files of this tool")
    parser.add_argument("--keep", type=Path, help="folder for the inputs with problems")
    parser.add_argument("--unmutated", action="store_true", help="import each file once, as it is")
    parser.add_argument("--list", action="store_true", help="print the result for each input")
    given = parser.parse_args(arguments)
    tool = "slurm" if given.prove else given.tool
    found = [one for one in sources(given.folders) if tool in (None, one.importer)]
    imports = Imports([one for one in found if one.importer == "slurm"], seconds=given.seconds, prove=given.prove)
    numbers = [given.only] if given.only is not None else range(given.first, given.first + given.count)
    chosen: Iterable[tuple[int, Source, Random | None]] = (
        (number, one, None)
        for number, one in enumerate(found)
        if given.only in (None, number) and number >= given.first
    )
    if not given.unmutated:
        chosen = inputs(found, given.seed, numbers, lambda one: not given.prove or imports.own_site_of(one)[1])
    outcomes: Counter[tuple[str, str]] = Counter()
    launchers: Counter[str] = Counter()
    proofs: Counter[str] = Counter()
    problems, started = 0, time.monotonic()
    for number, source, random in chosen:
        text = source.text if random is None else changed(random, source)
        site = ""
        if source.importer == "slurm":
            site = imports.site_of(source) if random is None else imports.own_site_of(source)[0]
        result = imports.result(source, text, site)
        outcomes[source.importer, result.outcome] += 1
        proofs[result.proof] += 1 if result.proof else 0
        if source.importer == "slurm" and LAUNCHER.search(_PROGRAM.sub("", text)):
            launchers[result.outcome] += 1
        problems += bool(result.problems)
        if result.problems or given.list:
            print(f"{number} {source.path}: {result.outcome}{f', {result.proof}' if result.proof else ''}", flush=True)
            print("".join(f"  {one}\n" for one in result.problems), end="", flush=True)
        if result.problems and given.keep is not None:
            given.keep.mkdir(parents=True, exist_ok=True)
            (given.keep / f"{given.seed}-{number}-{source.path.name}").write_text(text, "utf-8")
            (given.keep / f"{given.seed}-{number}.site.yaml").write_text(site, "utf-8")
    for (importer, outcome), total in sorted(outcomes.items()):
        print(f"{total:6} {importer}: {outcome}")
    for proof, total in sorted(proofs.items()):
        print(f"{total:6} proofs: {proof}" if proof else "", end="\n" if proof else "")
    every = sum(launchers.values())
    if every:
        good = sum(launchers[one] for one in _GOOD)
        print(f"{every:6} batch scripts with a launcher, of which {good} are ready: {100 * good / every:.1f} %")
    print(f"{sum(outcomes.values()):6} inputs, {problems} with problems, in {time.monotonic() - started:.0f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
