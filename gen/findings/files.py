"""Findings about files as such: which there may be, and what is read of their YAML."""

from __future__ import annotations

from typing import Final

from gen.findings.code import Code

_SAME_FOR_ALL = "Readers of YAML differ there, and who reviews a file must see what every reader gets."
_BOUNDS = "A file from a pull request must not take the memory or the time of those who check it."

FILES: Final = (
    Code(
        "invalid-yaml",
        "A file is valid YAML.",
        "Nobody knows what was meant.",
        "Check the indentation, quotes and brackets of the line and the one above; the finding says what was expected.",
    ),
    Code(
        "not-utf-8",
        "A file is UTF-8.",
        "Other encodings are read as other characters elsewhere.",
        "Save the file as UTF-8.",
    ),
    Code(
        "control-character",
        "There are no control characters, none that turn the order of writing around, and no noncharacters.",
        "They make a reviewer see something else than what is read.",
        "Remove the character; in double quotes most can be written as an escape.",
    ),
    Code("empty-file", "A file says something.", "An empty job or overlay is a mistake.", "Fill it, or delete it."),
    Code(
        "many-documents",
        "A job file or overlay holds one document.",
        "One job is one file, so that a diff shows what happens to it.",
        "Put every document into a file of its own.",
    ),
    Code(
        "anchor",
        "Anchors and aliases (`&`, `*`) are not used in job files and overlays; in manifests an alias has an anchor.",
        _SAME_FOR_ALL,
        "Repeat the value, use `defaults` of the overlay, or quote a text that begins with such a sign.",
    ),
    Code(
        "tag",
        "Tags (`!`) are not used in job files and overlays; in manifests they are those of YAML itself, like `!!str`.",
        "A tag makes a value into something that only some readers know.",
        "Remove the tag; quote a text that begins with `!`.",
    ),
    Code(
        "duplicate-key",
        "A mapping has each key once.",
        "Most readers silently take the last one.",
        "Keep one of the two.",
    ),
    Code(
        "invalid-key",
        "A key is a word.",
        _SAME_FOR_ALL,
        "Write a word before the colon, in quotes when it begins with a bracket.",
    ),
    Code("not-a-number", "Numbers are finite.", "JSON, and so Kubernetes, has no other.", "Quote it, if it is a text."),
    Code("too-deep", "Values are not nested too deeply.", _BOUNDS, "Flatten the data."),
    Code(
        "too-large",
        "Files, and what is made of them, have bounds.",
        _BOUNDS,
        "Split it, write it with fewer aliases, or put long texts into `files` or on a volume.",
    ),
    Code(
        "too-many",
        "The first findings of a file are told, and the number of the others.",
        "More than some hundred findings have one cause more often than many.",
        "Correct these; the next run shows the others.",
    ),
    Code(
        "unreadable",
        "A file can be read.",
        "The system refused it.",
        "Check that it exists, and the permissions of the file and of its folders.",
    ),
    Code(
        "not-a-file",
        "Inputs and rendered files are regular files in real folders.",
        "A link could lead to any file of the machine that renders.",
        "Put the file or the folder itself there.",
    ),
    Code(
        "missing-file",
        "Files that are named, or that a folder needs, are there.",
        "What it says would be left out.",
        "Add the file, or correct its name.",
    ),
    Code(
        "misplaced-file",
        "Jobs lie at `jobs/<namespace>/<job>.yaml` and overlays at `overlays/<overlay>/overlay.yaml`.",
        "A file elsewhere would be passed by in silence.",
        "Move it to where the finding says.",
    ),
    Code(
        "invalid-name",
        "Jobs, namespaces and overlays have names of lower case letters, digits and `-`; a job begins with a letter.",
        "The names become those of objects and of folders.",
        "Rename the file or the folder; a job may say its `name` in the file.",
    ),
    Code(
        "control-file",
        "No file in `jobs/` or `rendered/` steers Argo CD, Flux, Git or SOPS.",
        "A `kustomization.yaml` or `.argocd-source.yaml` changes what an engine applies, past the rendered manifests; "
        "`.gitattributes` hides a diff.",
        "Remove it.",
    ),
    Code(
        "kept",
        "`gen init` leaves what is there as it is.",
        "Somebody may have edited it.",
        "Compare it with what a new repository has, or move it away and run `gen init` again.",
    ),
    Code(
        "in-the-way",
        "Where `gen init` writes, nothing of another kind stands.",
        "What is there is not overwritten.",
        "Move it away.",
    ),
)
