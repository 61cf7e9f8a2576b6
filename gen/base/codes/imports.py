"""Finding codes for what `gen import` reads."""

from __future__ import annotations

from gen.base.codes import Code, FatalCode

INVALID_COMMAND_LINE = Code(
    "invalid-command-line",
    "A command line of the other tool has an unknown job type or flag, lacks a value, or lacks a required flag.",
    "The other tool would reject it, too, so gen cannot know the meaning.",
    "Correct the command; a program with flags of its own belongs in quotes.",
)
INVALID_MANIFEST = Code(
    "invalid-manifest",
    "An object cannot become a job: it has no name, namespace or `spec`, or no file has an object of a known kind.",
    "gen cannot know which job it should write.",
    "Complete the object, or name other files.",
)
DIFFERS = Code(
    "differs",
    "The object that gen renders from an imported job differs from the original, and no field or patch changes that.",
    "The run would not do the same as the original.",
    "Change the job or the overlay until the run does the same as the original.",
)
UNSUPPORTED_SHELL = Code(
    "unsupported-shell",
    "A script uses syntax or a variable whose value is known only when the script runs.",
    "gen runs nothing that it imports.",
    "Write the value itself, or a command of its own for each job.",
)
NOT_CARRIED = Code(
    "not-carried",
    "A value of the other tool is not in the imported job, because no field has the same meaning or none is necessary.",
    "The run would differ from that of the other tool.",
    "Do the step in the finding, if the job needs it.",
)
NEEDS_SECRET = Code(
    "needs-secret",
    "A value that is imported is a secret, judging by its name or its form. The job reads it from a Secret instead.",
    "A secret in Git is visible to all readers of the repository.",
    "Create the Secret in the namespace of the job, and revoke the value if it was ever pushed.",
)
ALREADY_THERE = Code(
    "already-there",
    "An imported job has the name of another one.",
    "gen does not overwrite files.",
    "Choose another name, or remove the file first.",
)
OTHER_VALUE = Code(
    "other-value",
    "An imported job needs a field of the overlay that is set to something else.",
    "gen changes no value that the platform owner has written.",
    "Use another name in the job, or change the overlay by hand.",
)
CANNOT_RUN = FatalCode(
    "cannot-run",
    "An imported job renders, but its program cannot run in its pods, such as when only a value from outside names it.",
    "The run would fail at its start, or wait for pods that never come.",
    "Give the value in the finding, or change the command of the job.",
)
