"""Findings about `rendered/`, and about what a change would do to a cluster."""

from __future__ import annotations

from typing import Final

from gen.findings.code import Code

_DATA_IS_GONE = "What says where the data is would go with it, and an engine may delete the volume."

CHANGES: Final = (
    Code(
        "missing",
        "Every file of a job is in `rendered/`.",
        "Engines apply what is there, and not what was meant.",
        "Run `gen render` and commit the result.",
    ),
    Code("stale", "Rendered files follow their inputs.", "The old run goes on.", "Run `gen render` and commit."),
    Code(
        "hand-edited",
        "Nobody edits rendered files.",
        "The next render takes the edit back.",
        "Change the job, the overlay or a patch, and run `gen render`.",
    ),
    Code(
        "leftover",
        "Rendered files whose job is gone are gone, too.",
        "Engines would keep the run.",
        "Run `gen render` and commit.",
    ),
    Code(
        "foreign-file",
        "In `rendered/` lies what gen wrote.",
        "gen neither replaces nor removes what it did not write, and engines apply it.",
        "Move it out of `rendered/`, or delete it.",
    ),
    Code(
        "unused-storage",
        "Storage that no job uses is removed by hand.",
        "An engine that removes a volume may remove the data.",
        "Keep it, or run `gen render --prune-storage` when the data may go.",
    ),
    Code(
        "immutable-storage",
        "Fields of volumes and claims that a cluster cannot change do not change.",
        "Every later sync of the folder would fail.",
        "Take the edit back, or declare the volume under another name.",
    ),
    Code(
        "not-a-manifest",
        "Files in `rendered/` are manifests.",
        "What an engine would make of it, gen cannot say.",
        "Run `gen render`, which writes its own files anew; remove what is not its own.",
    ),
    Code(
        "not-rendered",
        "A plan compares what was rendered.",
        "Jobs or overlays changed and `rendered/` did not, so that the plan would show nothing.",
        "Run `gen render` first.",
    ),
    Code(
        "run-edited",
        "An edited run has a new name.",
        "A cluster refuses to change a run, or takes half of it.",
        "Run `gen render`, which names it anew; with stable names, delete the object in the cluster first.",
    ),
    Code(
        "never-ran",
        "A job is not edited and finished in one change.",
        "The record would be of a run that there never was, in the place of one that may be running.",
        "Finish a job and edit it in two pull requests.",
    ),
    Code(
        "data-removed",
        "Volumes and claims stay in Git.",
        _DATA_IS_GONE,
        "Restore it; use `--allow-data-removal` when it may go.",
    ),
    Code("data-renamed", "Volumes and claims keep their names.", "No data moves along.", "Keep the old name, or copy."),
    Code(
        "data-shrunk",
        "Volumes and claims do not shrink.",
        "A cluster refuses it.",
        "Keep the size, or copy the data to a new volume.",
    ),
    Code(
        "data-unprotected",
        "Volumes and claims keep what protects them: `Retain`, and the marks that keep engines from pruning.",
        "A later mistake would delete the data.",
        "Run `gen render`, which writes the marks, or change it back.",
    ),
    Code(
        "delivery-removed",
        "What engines are told to apply stays.",
        "An engine may remove with an Application or a Kustomization all that it has applied.",
        "See that it leaves its objects behind before it goes or gets another name.",
    ),
    Code(
        "too-many-removed",
        "A change removes no more than `--max-removed`.",
        "A mistake in a pattern removes everything.",
        "Look at what goes; raise `--max-removed` when all of it should.",
    ),
    Code(
        "limits-unknown",
        "The plan knows how many GPUs the overlay grants.",
        "It cannot compare what is used with what may be.",
        "Run `gen check`, which says what is wrong with the overlay.",
    ),
    Code(
        "unknown-usage",
        "A rendered run says how many GPUs it asks for.",
        "The plan cannot count them.",
        "Run `gen render`, which writes the file anew.",
    ),
)
