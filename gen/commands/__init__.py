"""Commands: one file each, and one line here.

The file of a command defines `Request`, a keyword-only Struct with arguments and options of typer as
annotations, and `run(request)`, which returns a `Result` or a `Stream`. The output is a report. Otherwise `FORMATS`
maps the names of formats to functions that return text, or is None for plain text. Nothing here prints.

Four files are shared: `common` has results and options, `rendering` the work of `render`, `check` and `diff`, `verb`
that of commands which change job files, such as `stop` and `set`, and `environment` reads the terminal and variables of
the environment.
"""

from __future__ import annotations

from typing import Final

COMMANDS: Final = {
    "render": "Write the manifests of all jobs to rendered/.",
    "check": "Compare rendered/ with jobs and overlays, without writing.",
    "diff": "Show which fields of objects a render would change.",
    "plan": "Show what merging would change: runs, GPUs, data, fields.",
    "list": "List jobs with their state, GPUs, queue and owner.",
    "site": "Write static pages of the repository: jobs, overlays, history.",
    "status": "Compare the runs in the clusters with Git: phase, pods, drift.",
    "logs": "Show the logs of all pods of a job in one stream.",
    "top": "Show accelerators of the nodes, and the jobs that hold them.",
    "tensorboard": "Open the TensorBoard of a job on this machine.",
    "pin": "Write digests of images and commits of code into locks.",
    "vendor": "Copy the overlays that others extend from their repositories.",
    "retire": "Set the jobs of ended runs to finished, in Git only.",
    "move": "Print the steps of moving jobs to another overlay or engine.",
    "validate": "Check manifests as an API server and the operators would.",
    "explain": "Describe a finding or a field of jobs and overlays.",
    "stop": "End runs after the merge; their records and data stay.",
    "rerun": "Run jobs again, as their next attempt.",
    "suspend": "Remove the pods of runs after the merge, until `gen resume`.",
    "resume": "Let suspended or stopped runs go on.",
    "finish": "Keep runs that have ended as records, which never start again.",
    "new": "Write a commented job file that renders.",
    "set": "Change fields of job files; comments, order and layout stay.",
    "import": "Make jobs from submissions of another tool, such as Arena.",
    "init": "Create a repository with a first job, rendered, and CI.",
    "completion": "Print the completion script for bash, zsh or fish.",
    "schema": "Print the JSON Schema that editors check files with.",
    "lsp": "Start a language server, which editors use.",
}
"""Summary by name. A name is that of the module, too."""

COMPLETION: Final = "_GEN_COMPLETE"
"""Environment variable with which the script of a shell starts gen for completions."""
