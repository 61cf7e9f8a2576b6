"""Histories of a repository with many generated jobs: each step is proposed, rendered, checked, planned and merged.

A case is a job at a step. `python -m tests.adversary.histories FIRST LAST` runs histories by number, and
`python -m tests.adversary.histories 7 --job 31` one job of a history alone, without its superfluous fields. With
`--plugin tests/overlay/plugins/acme`, jobs and overlays also use this plugin.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from gen.base.findings import UsageError
from gen.commands import plan
from gen.render.emit import HEADER, digest_of, header
from gen.review.runs import RunAction
from tests.adversary.inputs import (
    PLUGIN,
    dumped,
    files_of_overlay,
    job_at,
    lock_at,
    namespace_at,
    overlay_at,
    policy_at,
    way_at,
)
from tests.adversary.pod_security import SKIPS, Cluster, escapes, runs
from tests.history import History
from tests.support import installed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from gen.base.findings import Diagnostic
    from gen.review.result import Review

JOBS, STEPS = 300, 9
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
OVERLAYS = ("dev", "prod")
STARTING = frozenset(RunAction) - {RunAction.KEPT, RunAction.STOPPED, RunAction.REMOVED, RunAction.RETIRED}
Key = tuple[str, ...]


@lru_cache(maxsize=20_000)
def body_of(text: str) -> Any:
    return yaml.load(text, LOADER)  # noqa: S506 - a safe loader


class EscapeError(AssertionError):
    """A pod that starts without a grant, or an answer of gen that is not true."""

    def __init__(self, job: str, what: str) -> None:
        super().__init__(f"{job}: {what}")
        self.job = job


class Repositories:
    """A history of one repository."""

    def __init__(self, root: Path, number: int, jobs: Collection[int], without: Collection[str], seed: str) -> None:
        self.repo = History(root / "repo")
        self.number, self.jobs, self.without = number, sorted(jobs), frozenset(without)
        self.seed = seed
        self.cache = root / "home/gen"
        self.names = OVERLAYS if number % 6 == 0 else OVERLAYS[:1]
        self.base: dict[str, str] = {}
        self.clusters: dict[str, Cluster] = {}
        self.count = Counter[str]()
        self.found: list[EscapeError] = []
        self.overlays: dict[str, str] = {}
        self.repo.root.mkdir(parents=True)
        self.repo.git("init", "--quiet", "--initial-branch", "main")
        self.repo.git("commit", "--quiet", "--allow-empty", "--message", "start")

    def run(self, steps: int) -> None:
        for step in range(steps):
            self._step(step)

    def _step(self, step: int) -> None:
        clusters = self._propose(step)
        ways = {self._name(number): way_at(self.seed, number, step) for number in self.jobs}
        proposed = self._files("jobs")
        self._forge({name for name, way in ways.items() if way == "forged"})
        self._render(proposed)
        again = [key for key in self._keys() if ways[key.rpartition("/")[2]] == "restarted" and step % 3 == 1]
        if again and self.repo.render(*again, restart=True)[1]:
            self._render(proposed)
        review = self._judged_by_gen(step, proposed, {name for name, way in ways.items() if way == "edited"})
        if review is None:
            self.count["given up"] += 1
            return self._restore()
        after = self._files("rendered")
        self._judge(after, clusters, review)
        self.count["cases"] += len(self.jobs)
        self.count["accepted"] += len(self._keys())
        self.clusters = clusters
        self.repo.git("add", "--all")
        self.repo.git("commit", "--quiet", "--allow-empty", "--message", f"step {step}")
        self.base = {**after, **self._files("jobs"), **self._files("overlays")}
        return None

    def _name(self, number: int) -> str:
        return f"job-{number}"

    def _propose(self, step: int) -> dict[str, Cluster]:
        """Write the overlays and jobs of a step."""
        shutil.rmtree(self.repo.root / "overlays", ignore_errors=True)
        clusters = {}
        for name in self.names:
            at = step - step % 3  # so that runs are also started under the overlay of an earlier step
            files = files_of_overlay(self.seed, at, name)
            clusters[name] = Cluster(overlay_at(self.seed, at, name), files, policy_at(self.seed, at, name))
            for path, text in files.items():
                self.repo.write(path, text)
        shutil.rmtree(self.repo.root / "jobs", ignore_errors=True)
        for number in self.jobs:
            if way_at(self.seed, number, step) == "removed":
                continue
            job = {key: one for key, one in job_at(self.seed, number, step).items() if key not in self.without}
            space = namespace_at(self.seed, number, step)
            self.repo.job(dumped(job), self._name(number), space)
            lock = lock_at(self.seed, number, step, job) if "lock" not in self.without else None
            if lock is not None:
                self.repo.write(f"jobs/{space}/{self._name(number)}.lock", lock)
        (self.repo.root / "jobs").mkdir(exist_ok=True)
        return clusters

    def _forge(self, names: Collection[str]) -> None:
        """Authors take out the lines that keep their runs from running, and move the files along with their jobs."""
        places = {key.rpartition("/")[2]: key for key in self._keys()}
        for path, text in self.base.items():
            parts = path.split("/")
            if parts[0] == "rendered" and len(parts) == 6 and parts[4] in names and parts[4] in places:
                new = "/".join([*parts[:3], *places[parts[4]].split("/"), parts[5]])
                self.repo.write(new, forged(text))

    def _render(self, proposed: dict[str, str], jobs: Collection[str] = ()) -> None:
        """Render; the files of jobs with errors are those of the base again, then removed."""
        for attempt in range(8):
            try:
                report, code = self.repo.render(*jobs, cache=self.cache, allow_empty=True)
            except UsageError as error:
                raise EscapeError("", f"{error}") from error
            if not code and not jobs:
                return
            jobs = sorted(self._revert(report.findings, proposed, attempt) & {*self._keys()}) if code else ()
        raise EscapeError("", f"no render: {[one for one in report.findings if one.is_error][:3]}")

    def _revert(self, findings: Collection[Diagnostic], proposed: dict[str, str], attempt: int) -> set[str]:
        """Revert the jobs with errors, and return those that have files again, or were removed."""
        errors = [one for one in findings if one.is_error]
        keys = {key for one in errors for key in self._keys_of(one)} or set(self._keys())
        self.count["unclear"] += not any(self._keys_of(one) for one in errors)
        if not keys and all("/storage/" in one.place.file for one in errors):
            self.repo.render(cache=self.cache, allow_empty=True, prune_storage=True)  # volumes of jobs that are gone
            return set()
        if not keys:
            texts = [f"{one.place}: {one.message}" for one in errors[:9]]
            raise EscapeError("", f"errors without jobs: {texts}")
        for key in keys:
            self.count["refused"] += not attempt
            name = key.rpartition("/")[2]
            for folder in (self.repo.root / "jobs").iterdir():
                for end in ("yaml", "lock"):
                    (folder / f"{name}.{end}").unlink(missing_ok=True)
            for folder in (self.repo.root / "rendered").glob(f"*/jobs/*/{name}"):
                shutil.rmtree(folder)
            own = {path: text for path, text in self.base.items() if f"/{name}." in path or f"/{name}/" in path}
            same = all(proposed.get(path) == text for path, text in own.items() if path.startswith("jobs/"))
            if not attempt and not same:
                for path, text in own.items():
                    self.repo.write(path, text)
        return keys

    def _keys_of(self, finding: Diagnostic) -> set[str]:
        """The jobs that a finding is about."""
        places = [finding.place.file, *(place.file for place, _ in finding.related)]
        found = set()
        for place in places:
            parts = place.split("/")
            if parts[0] == "jobs" and len(parts) == 3:
                found.add(f"{parts[1]}/{parts[2].rpartition('.')[0]}")
            elif parts[0] == "rendered" and len(parts) >= 5 and parts[2] == "jobs":
                found.add(f"{parts[3]}/{parts[4]}")
        if not found:
            found = {
                key
                for key in self._keys()
                if f"{key}`" in finding.message or f"/{key.rpartition('/')[2]}" in finding.message
            }
        return found

    def _judged_by_gen(self, step: int, proposed: dict[str, str], edited: Collection[str]) -> Review | None:
        """The plan of a change that check and plan accept; jobs that they refuse are reverted."""
        for attempt in range(4):
            report, code = self.repo.check(cache=self.cache, base="main")
            review = plan.review(
                plan.Request(root=self.repo.root, base="main", allow_data_removal=True, allow_move=True)
            )
            errors = [one for one in (*report.findings, *review.findings) if one.is_error]
            if not code and not errors:
                if step == STEPS // 2:
                    self._edits(edited)
                return review
            if not errors:
                raise EscapeError("", f"the check fails without a finding: {report.changes[:2]}")
            reverted = self._revert(errors, proposed, attempt)
            self._render(proposed, sorted(reverted & {*self._keys()}))
        return None

    def _edits(self, names: Collection[str]) -> None:
        """Edits of rendered files after the render: the check must refuse each one."""
        texts = {path: text for path, text in self._files("rendered").items() if path.split("/")[-2] in names}
        left = {path: edit for path, text in texts.items() if (edit := _edited(path, text)) != text}
        self.count["edits"] += len(left)
        for path, text in left.items():
            self.repo.write(path, text)
        while left:  # an error of one keeps others from being listed
            report, code = self.repo.check(cache=self.cache, base="main")
            seen = {one.path for one in report.changes} | {one.place.file for one in report.findings if one.is_error}
            if not code or not seen & left.keys():
                self.found += [
                    EscapeError(path.split("/")[-2], f"the check accepts an edit of {path}") for path in left
                ]
            for path in seen & left.keys() if code and seen & left.keys() else {*left}:
                self.repo.write(path, texts[path])
                del left[path]

    def _judge(self, after: dict[str, str], clusters: dict[str, Cluster], review: Review) -> None:
        """Everything that the merge starts is granted by the overlay of today, and in the plan."""
        told = {run.after.name for run in review.runs if run.after is not None and run.action in STARTING}
        for name, cluster in clusters.items():
            old = self.clusters.get(name, cluster)
            before = {_key(body): body for body in self._bodies(self.base, name)}
            for body in self._bodies(after, name):
                was = before.get(_key(body))
                engines = {*old.engines, *cluster.engines}
                ran = was is not None and any(runs(was, one) for one in old.engines)
                if not any(runs(body, one) for one in engines) or (
                    ran and was is not None and was["spec"] == body["spec"]
                ):
                    continue
                job = body["metadata"]["labels"].get("gen/job", "")
                self.count["started"] += 1
                for escape in escapes(body, cluster):
                    self.found.append(EscapeError(str(job), f"{body['kind']} {body['metadata']['name']}: {escape}"))
                is_run = "gen/run" in body["metadata"]["labels"] and body["kind"] != "ConfigMap"
                if is_run and not ran and body["metadata"]["name"] not in told and _is_workload(body):
                    self.found.append(
                        EscapeError(str(job), f"{body['kind']} {body['metadata']['name']} is not in the plan")
                    )

    def _bodies(self, files: dict[str, str], overlay: str) -> Iterator[Any]:
        for path, text in files.items():
            if path.startswith(f"rendered/{overlay}/jobs/") and "\nspec:" in text:
                yield body_of(text)

    def _keys(self) -> list[str]:
        files = (self.repo.root / "jobs").glob("*/*.yaml")
        return sorted(f"{file.parent.name}/{file.stem}" for file in files)

    def _files(self, folder: str) -> dict[str, str]:
        root = str(self.repo.root)
        paths = (f"{at}/{name}" for at, _, names in os.walk(f"{root}/{folder}") for name in names)
        return {path[len(root) + 1 :]: Path(path).read_text("utf-8") for path in paths}

    def _restore(self) -> None:
        for folder in ("jobs", "overlays", "rendered"):
            shutil.rmtree(self.repo.root / folder, ignore_errors=True)
        for path, text in self.base.items():
            self.repo.write(path, text)
        (self.repo.root / "jobs").mkdir(exist_ok=True)


def _key(body: Any) -> Key:
    return body["kind"], body["metadata"]["namespace"], body["metadata"]["name"]


def _is_workload(body: Any) -> bool:
    return body["kind"] not in {
        "Service",
        "Deployment",
        "ConfigMap",
        "PodGroup",
        "HorizontalPodAutoscaler",
        "ResourceClaimTemplate",
    }


def forged(text: str) -> str:
    """A file of another state without a render."""
    first, _, rest = text.partition("\n")
    marks = ("    suspend: true\n", "  suspend: true\n", *(f"    {key}: {value}\n" for key, value in SKIPS.values()))
    for mark in marks:
        rest = rest.replace(mark, "")
    rest = rest.replace("  annotations:\n  labels:", "  labels:").replace("  annotations:\nspec:", "spec:")
    return _with_digest(first, rest) or text


def _edited(path: str, text: str) -> str:
    """A file with more permissions, sometimes with a true digest."""
    first, _, rest = text.partition("\n")
    for old, new in (
        ("containers:\n", "hostPID: true\n{indent}containers:\n"),
        ("  suspend: true\n", "  suspend: false\n"),
        (": Skip\n", ": PreSync\n"),
    ):
        if old in rest:
            before = rest[: rest.index(old)]
            indent = before[before.rindex("\n") + 1 :]
            rest = rest.replace(old, new.format(indent=indent if indent.isspace() else " " * len(indent)), 1)
            break
    return _with_digest(first, rest) or text if len(path) % 2 else f"{first}\n{rest}"


def _with_digest(first: str, rest: str) -> str | None:
    match = HEADER.match(f"{first}\n")
    return header(match["source"], digest_of(rest), match["record"] or "") + rest if match is not None else None


def history(
    number: int,
    jobs: Collection[int] = range(JOBS),
    without: Collection[str] = (),
    *,
    steps: int = STEPS,
    plugin: bool = False,
) -> Repositories:
    """The end of a history."""
    with tempfile.TemporaryDirectory() as folder:
        kept = os.environ.get("XDG_CACHE_HOME")
        os.environ["XDG_CACHE_HOME"] = f"{folder}/home"
        try:
            found = Repositories(Path(folder), number, jobs, without, f"{number}{PLUGIN if plugin else ''}")
            found.run(steps)
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            if kept is not None:
                os.environ["XDG_CACHE_HOME"] = kept
    return found


def smallest(number: int, job: int, *, plugin: bool = False) -> tuple[list[EscapeError], list[str]]:
    """The escapes of a job alone, and the fields of the job that they need."""
    found, without = history(number, [job], plugin=plugin).found, set[str]()
    seed = f"{number}{PLUGIN if plugin else ''}"
    every = {key for step in range(STEPS) for key in job_at(seed, job, step)} - {"kind", "image", "command"}
    for field in sorted({*every, "lock"} if found else ()):
        try:
            less = history(number, [job], {*without, field}, plugin=plugin).found
        except EscapeError:
            continue
        if less:
            found = less
            without.add(field)
    return found, sorted(every - without)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int, nargs="?")
    parser.add_argument("--job", type=int)
    parser.add_argument("--jobs", type=int, default=JOBS, help="number of jobs of a history")
    parser.add_argument("--plugin", type=Path, metavar="FOLDER", help="source of a plugin")
    given = parser.parse_args()
    if given.plugin is not None:
        sys.path.insert(0, str(installed(given.plugin, Path(tempfile.mkdtemp()) / "site")))
    if given.job is not None:
        found, fields = smallest(given.first, given.job, plugin=given.plugin is not None)
        print(*found, fields, sep="\n")
        return bool(found)
    total, failed = Counter[str](), 0
    gc.disable()  # as the program does
    for number in range(given.first, given.last or given.first + 1):
        gc.collect()
        try:
            ended = history(number, range(given.jobs), plugin=given.plugin is not None)
        except Exception:  # noqa: BLE001 - the other histories go on
            failed += 1
            print(f"history {number}:", traceback.format_exc(limit=-4), flush=True)
            continue
        total += ended.count
        failed += len(ended.found)
        for one in ended.found[:20]:
            print(f"history {number}, {one}", flush=True)
        print(number, dict(total), flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
