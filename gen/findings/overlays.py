"""Findings about overlays and their patches."""

from __future__ import annotations

from typing import Final

from gen.findings.code import Code

OVERLAYS: Final = (
    Code(
        "unknown-overlay",
        "`extends` names an overlay that there is.",
        "There is nothing to take over.",
        "Correct the name.",
    ),
    Code("extends-itself", "Overlays extend each other in no circle.", "There is no end of it.", "Remove one of them."),
    Code(
        "unknown-kubernetes-version",
        "There are schemas of the version of Kubernetes.",
        "Nothing could be checked.",
        "Write one of the versions that the finding lists.",
    ),
    Code(
        "unknown-api-version",
        "An API version that an overlay chooses is one that the kind can be rendered in.",
        "gen does not know how it looks.",
        "Choose one of the list.",
    ),
    Code(
        "reserved-name",
        "Volumes, networks and overlays do not have the names that gen uses itself.",
        "The two could not be told apart in a pod or below `rendered/`.",
        "Choose another name.",
    ),
    Code(
        "unknown-permission",
        "What `namespaces` allow is a permission that gen knows.",
        "A misspelt one grants nothing.",
        "Correct it; the finding names the nearest one.",
    ),
    Code(
        "selects-nothing",
        "Every pattern that `select` includes fits a job.",
        "A pattern that fits none is misspelt, or a leftover.",
        "Correct the pattern, or remove it.",
    ),
    Code(
        "invalid-patch",
        "A patch is a strategic merge patch or a list of JSON patch operations, well formed.",
        "It could not be applied, or only in part.",
        "Write what the finding says; RFC 6902 and the documentation of Kustomize describe the forms.",
    ),
    Code(
        "unmatched-patch",
        "The target of a patch is there.",
        "A patch that touches nothing does not do what its author thinks.",
        "Correct the target, or remove the patch.",
    ),
    Code(
        "patch-does-not-apply",
        "Every operation finds its place in every object of the target.",
        "Half of a patch is worse than none.",
        "Correct the path, or narrow the target.",
    ),
    Code(
        "patch-renames",
        "A patch leaves `apiVersion`, `kind`, `name` and `namespace` alone.",
        "It would make another object, of which nothing else knows.",
        "Rename the job, or move it to another namespace.",
    ),
    Code(
        "patch-breaks",
        "A patch leaves what holds a run together: main container, labels that select, protections of data.",
        "The operator, a Service or an engine finds it by them.",
        "Leave it as it is; what it is meant for has a field, or the finding says another way.",
    ),
)
