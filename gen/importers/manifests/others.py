"""Which objects of an import are runs, and the report about those that are not."""

from __future__ import annotations

from typing import Final

from gen.base import Findings, Location
from gen.base.codes.imports import INVALID_MANIFEST, NOT_CARRIED
from gen.importers import ImportInput
from gen.importers.manifests.objects import Item
from gen.importers.manifests.placeholders import filled
from gen.importers.manifests.runtimes import RUNTIME_HINT
from gen.importers.manifests.volumes import selects_name
from gen.job.kinds import ALL_KINDS
from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.pods import pods_by_shape
from gen.kubernetes.facts.runtimes import runtimes_in
from gen.kubernetes.objects import Body

KEPT: Final = "keep the manifest where it is applied today, and check it with `gen validate`"
_BY_CLAIM: Final = frozenset({"PersistentVolume", "PersistentVolumeClaim"})
_MAX_NAMED: Final = 5
_SERVING: Final = frozenset({"InferenceService", "LeaderWorkerSet"})


def kind_of(body: Body) -> tuple[str, Resource] | None:
    """The kind of job, and the facts of the object, which may be a schedule. Groups of old versions differ."""
    group, _, _ = body["apiVersion"].rpartition("/")
    for name, model in ALL_KINDS.items():
        for facts in (model.facts, model.facts.scheduled_by):
            if facts is None or facts.kind != body["kind"]:
                continue
            if facts.group == group or body["apiVersion"] in facts.retired:
                return name, facts
    return None


def report_none(every: list[Item], given: ImportInput, found: Findings) -> None:
    """Report that no object is a run, at one with pods if there is any."""
    facts = [model.facts for model in ALL_KINDS.values()]
    known_kinds = {one.kind for known in facts for one in (known, known.scheduled_by) if one is not None}
    known_kinds |= {one.kind for one in RESOURCES.values() if one.holds is not None}
    custom = [one for one in every if "." in group_of(one) and RESOURCES.get((group_of(one), one.body["kind"])) is None]
    if custom:
        first = next((one for one in custom if any(pods_by_shape(one.body))), custom[0])
        message = f"gen has no kind of job for {first.body['kind']} of {first.body['apiVersion']}"
        pods = [".".join(map(str, route[:-1])) for route in pods_by_shape(first.body) if route[-1] == "spec"]
        known = f", such as `template: {pods[0]}`" if pods else ""
        hint = f"if its definition has pod templates{known}, declare it in `kinds` of an overlay, and import it again"
        hint = f"{hint}; otherwise keep the manifest where it is applied today"
        runs = [one.kind for one in facts if one.group == group_of(first) and "Cron" in first.body["kind"]]
        if runs:
            wanted = f"{' or '.join(runs)} of {first.body['apiVersion']}"
            hint = f"write its job template as a {wanted}, import that, and set `schedule` of the job"
        hint = f"its pods serve and never end: {KEPT}" if first.body["kind"] in _SERVING else hint
        found.error(INVALID_MANIFEST, first.place(), message, hint)
        return
    place = every[0].place() if every else Location(given.files[0][0] if given.files else given.file)
    kinds = ", ".join(dict.fromkeys(str(one.body["kind"]) for one in every[:_MAX_NAMED]))
    message = f"no object of a kind that gen has{f', only {kinds}' if kinds else ''}"
    hint = f"name files with objects of these kinds: {', '.join(sorted(known_kinds))}"
    found.error(INVALID_MANIFEST, place, message, hint)


def report_others(every: list[Item], runs: list[Item], used: dict[int, bool], found: Findings) -> None:
    """Report objects that were not imported."""
    for item in every:
        if used.get(id(item)) or any(item is run for run in runs):
            continue
        what = f"{item.body['kind']} `{item.name}`"
        why = "gen has no kind of job for it"
        if item.body["kind"] in _BY_CLAIM:
            why = "jobs use the claim by its name, so that its data stay where they are"
        elif RESOURCES.get((group_of(item), item.body["kind"])) is None:
            why = "gen renders no such object from a job"
        elif "binaryData" in item.body:
            why = "files of a job are texts, and it has `binaryData`"
        run = next((filled(one)[0].name for one in runs if selects_name(item, one)), "")
        hint = f"remove it, or let it select `gen/job: {run}` if other programs use it" if run else KEPT
        hint = RUNTIME_HINT if any(runtimes_in(item.body)) else hint
        why = f"it selects pods of `{run}` by its name, and those of a run have another one" if run else why
        found.warning(NOT_CARRIED, item.place(), f"{what} is not carried: {why}", hint)


def group_of(item: Item) -> str:
    return str(item.body["apiVersion"].rpartition("/")[0])
