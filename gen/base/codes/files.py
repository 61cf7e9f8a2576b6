"""Finding codes for files: names, types, encoding, size and YAML."""

from __future__ import annotations

from gen.base.codes import Code

_READERS_DIFFER = "YAML readers disagree about it, so a reviewer may see other content than an engine applies."
_BOUNDS = "A file from a pull request must not exhaust the memory or the time of the machine that checks it."

INVALID_YAML = Code(
    "invalid-yaml",
    "A file is not valid YAML.",
    "Its content is ambiguous.",
    "Check the indentation, quotes and brackets of the reported line and the line above it.",
)
NOT_UTF_8 = Code(
    "not-utf-8",
    "A file is not encoded as UTF-8.",
    "Other encodings are decoded differently on other machines.",
    "Save the file as UTF-8.",
)
CONTROL_CHARACTER = Code(
    "control-character",
    "A file contains a control character, a bidirectional control or a Unicode noncharacter.",
    "Such characters hide or reorder text in a review.",
    "Remove the character, or write it as an escape sequence in double quotes.",
)
LOOKALIKE = Code(
    "lookalike",
    "A key or value without quotes starts or ends with a character that looks like a space or a quote.",
    "YAML has other characters for these, and reads this one as part of the text. Input methods and word processors "
    "insert them.",
    'Type the character again, or put the text in `"` if the character belongs to it.',
)
EMPTY_FILE = Code(
    "empty-file",
    "A job file or overlay is empty, or contains only comments.",
    "An empty job or overlay is a mistake.",
    "Add the missing fields, or delete the file.",
)
MANY_DOCUMENTS = Code(
    "many-documents",
    "A job file or overlay contains more than one YAML document.",
    "With one job per file, the diff of a file shows what happens to its job.",
    "Move each document to its own file.",
)
ANCHOR = Code(
    "anchor",
    "A job file or overlay uses an anchor or alias (`&`, `*`), or a manifest uses an alias without an anchor.",
    _READERS_DIFFER,
    "Repeat the value, use `defaults` in the overlay, or quote a string that starts with `&` or `*`.",
)
TAG = Code(
    "tag",
    "A job file or overlay uses a tag (`!`), or a manifest uses a tag that `kubectl` ignores or cannot decode.",
    "A tag changes the type of a value, and only some readers support it.",
    "Remove the tag, or quote a string that starts with `!`.",
)
IGNORED_DOCUMENT = Code(
    "ignored-document",
    "A manifest has a document, or text after `...`, that `kubectl` ignores.",
    "`kubectl` separates documents at lines that contain only `---`, and reads one document of each part, up to `...`.",
    "Add a line `---` before the document, or remove the text.",
)
DUPLICATE_KEY = Code(
    "duplicate-key",
    "A mapping contains the same key twice.",
    "Most readers use the last value without a warning.",
    "Remove one of the two.",
)
INVALID_KEY = Code(
    "invalid-key",
    "A mapping key is missing, or it is not a string.",
    _READERS_DIFFER,
    "Write a string before the colon; quote it if it starts with a bracket.",
)
NOT_A_NUMBER = Code(
    "not-a-number",
    "A number is infinite or not a number.",
    "JSON, and therefore Kubernetes, supports finite numbers only.",
    "Write a finite number, or quote the value if it is a string.",
)
TOO_DEEP = Code("too-deep", "Values are nested too deeply.", _BOUNDS, "Flatten the data.")
TOO_LARGE = Code(
    "too-large",
    "A file is too large, or what its aliases, runs, roles or steps expand to.",
    _BOUNDS,
    "Split the file, use fewer aliases or runs, or move long texts into the image or to a volume.",
)
TOO_MANY = Code(
    "too-many",
    "A file has so many findings that only the first ones are reported, with the number of the others.",
    "Several hundred findings in one file usually have a common cause.",
    "Fix the reported findings; the next run shows the rest.",
)
UNREADABLE = Code(
    "unreadable",
    "The operating system refused to read a file.",
    "gen cannot check a file that it cannot read.",
    "Check that the file exists, and the permissions of the file and its parent folders.",
)
NOT_A_FILE = Code(
    "not-a-file",
    "An input or a rendered file is a link, or is not a regular file, or one of its parent folders is a link.",
    "A link could lead to any file on the machine that renders.",
    "Replace it with the file or folder itself.",
)
MISSING_FILE = Code(
    "missing-file",
    "A file that an overlay refers to, or that a folder requires, does not exist.",
    "Its content would be silently left out.",
    "Add the file, or correct its name.",
)
MISPLACED_FILE = Code(
    "misplaced-file",
    "A file is not at `jobs/<namespace>/<job>.yaml` or `overlays/<overlay>/overlay.yaml`.",
    "gen would silently ignore it.",
    "Move it to the path in the finding.",
)
INVALID_NAME = Code(
    "invalid-name",
    "The name of a job, namespace or overlay has characters other than lower-case letters, digits and `-`, "
    "or the name of a job does not start with a letter.",
    "These names become names of Kubernetes objects and folders.",
    "Rename the file or folder; a job can also set `name` in its file.",
)
CONTROL_FILE = Code(
    "control-file",
    "A file in `jobs/` or `rendered/` configures Argo CD, Flux, Git or SOPS.",
    "`kustomization.yaml` and `.argocd-source.yaml` make an engine apply other objects; `.gitattributes` hides diffs.",
    "Remove the file.",
)
KEPT = Code(
    "kept",
    "`gen init` found a file with other content and left it unchanged.",
    "The file may have been edited.",
    "Compare it with that of a new repository, or move it away and run `gen init` again.",
)
MERGE_CONFLICT = Code(
    "merge-conflict",
    "`gen init --update` found lines of a file that the user and gen both changed.",
    "Only you know which to keep. The file has both, with the marks of Git.",
    "Edit the file: keep the right lines of both, and remove the marks.",
)
IN_THE_WAY = Code(
    "in-the-way",
    "`gen init` found a file instead of a folder, or something other than a regular file, at a path that it writes.",
    "gen does not overwrite it.",
    "Move it away.",
)
