"""`gen lsp` in a process, with a client of the protocol. The sessions run at once: a process starts in a second."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from markdown_it import MarkdownIt
from pygls.exceptions import JsonRpcException

from gen.editor.actions import PIN
from gen.editor.server import PAUSE_S
from tests.cases import for_each
from tests.editor.client import LIMIT_S, Editor, in_editor
from tests.pins.servers import git, git_server
from tests.support import Repository

OVERLAY = """\
kubernetes: "1.34"
defaults: {cpu: 4}
params: {lr: "0.1"}
volumes:
  datasets: {size: 10Gi, nas: {server: nas.example.com, path: /d}}
networks:
  eni: {terway: {version: "1.0.10"}}
namespaces:
  team: {gpus: 16, queues: [fast, slow], priorities: [high]}
"""
JOB = """\
kind: pytorch
image: example.com/train:1
command: torchrun train.py --lr {{ params.lr }}
workers: 2
gpus: 1
timeout: 1h
data:
  datasets: /data
"""
FILE = "jobs/team/demo.yaml"
OVERLAY_FILE = "overlays/dev/overlay.yaml"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    one = Repository.at(tmp_path / "repository")
    one.write(OVERLAY_FILE, OVERLAY)
    one.write(FILE, JOB)
    return one


def end_of(text: str) -> tuple[int, int]:
    lines = text.split("\n")
    return len(lines) - 1, len(lines[-1])


def texts(items: Iterable[types.Diagnostic]) -> str:
    return "\n".join(item.message for item in items)


@pytest.mark.slow
def test_findings_follow_the_text_and_not_the_saved_file(repository: Repository) -> None:
    async def use(editor: Editor) -> None:
        editor.open(FILE, JOB + "gpuz: 1\n")
        (shown,) = await editor.until(lambda: editor.shown.get(FILE))
        assert (shown.code, shown.range.start, shown.range.end) == (
            "unknown-field",
            types.Position(8, 0),
            types.Position(8, 4),
        )
        assert "did you mean `gpus`?" in shown.message
        editor.change(FILE, JOB)
        await editor.until(lambda: editor.shown[FILE] == [])
        editor.change(FILE, JOB + "netw\nbar: {")  # half written: one error
        await editor.until(lambda: editor.codes(FILE) == ["invalid-yaml"])
        editor.close(FILE)
        await editor.until(lambda: editor.shown[FILE] == [])

    in_editor(repository.root, use)


@pytest.mark.slow
def test_an_unsaved_overlay_decides_about_open_and_closed_jobs(repository: Repository) -> None:
    repository.write("jobs/team/other.yaml", JOB)

    async def use(editor: Editor) -> None:
        editor.open(FILE)
        editor.open(OVERLAY_FILE)
        await editor.until(lambda: editor.refreshed)
        editor.change(OVERLAY_FILE, OVERLAY.replace("datasets:", "data:"))
        await editor.until(lambda: editor.codes(FILE) and editor.codes("jobs/team/other.yaml"))
        assert "datasets" in texts(editor.shown["jobs/team/other.yaml"])
        editor.change(OVERLAY_FILE, OVERLAY + "volumez: {}\n")
        await editor.until(lambda: editor.codes(OVERLAY_FILE) == ["unknown-field"])
        editor.change(OVERLAY_FILE, OVERLAY)
        await editor.until(lambda: not any(editor.shown.values()))

    in_editor(repository.root, use)


@pytest.mark.slow
def test_an_open_job_follows_an_overlay_that_is_being_written(repository: Repository) -> None:
    """Without the pause after which all files are checked."""

    async def use(editor: Editor) -> None:
        editor.open(FILE)
        editor.open(OVERLAY_FILE)
        await editor.until(lambda: editor.refreshed > 1)
        async with asyncio.timeout(LIMIT_S / 4):
            for number in count():
                editor.change(OVERLAY_FILE, OVERLAY.replace("datasets:", "data:") + f"# {number}\n")
                await asyncio.sleep(PAUSE_S / 3)
                if "datasets" in texts(editor.shown.get(FILE, [])):
                    break

    in_editor(repository.root, use)


@pytest.mark.slow
def test_files_appear_and_vanish_and_a_branch_is_switched(repository: Repository) -> None:
    root = repository.root

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True, capture_output=True
        )

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "other")
    repository.write("jobs/team/new.yaml", JOB + "gpuz: 1\n")
    git("add", "-A")
    git("commit", "-qm", "two")
    git("checkout", "-q", "main")

    async def use(editor: Editor) -> None:
        def on_disk(path: str) -> None:
            event = types.FileEvent(uri=editor.uri(path), type=types.FileChangeType.Changed)
            editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=[event]))

        new = "jobs/team/new.yaml"
        editor.open(FILE)
        await editor.until(lambda: editor.refreshed)
        git("checkout", "-q", "other")
        on_disk(new)
        await editor.until(lambda: editor.codes(new) == ["unknown-field"])
        git("checkout", "-q", "main")
        on_disk(new)
        await editor.until(lambda: editor.shown[new] == [])

    in_editor(root, use)


def completed(repository: Repository, cases: dict[str, tuple[str, str, set[str], set[str]]]) -> None:
    """Compare completions: by name, the path, the text up to the cursor, labels that must be there, and others."""

    async def use(editor: Editor) -> None:
        editor.open(FILE)
        editor.open(OVERLAY_FILE)
        await editor.until(lambda: editor.refreshed)
        results = {}
        for name, (path, text, _, _) in cases.items():
            editor.change(path, text)
            results[name] = set(await editor.labels(path, *end_of(text)))
            editor.change(path, JOB if path == FILE else OVERLAY)

        @for_each("name", cases)
        def check(name: str) -> None:
            _, _, present, absent = cases[name]
            assert present <= results[name], results[name]
            assert not absent & results[name]

        check()

    in_editor(repository.root, use)


@pytest.mark.slow
def test_completion(repository: Repository) -> None:
    completed(
        repository,
        {
            "fields of the kind": (FILE, JOB + "e", {"elastic", "env", "queue"}, {"gpus", "slotsPerWorker"}),
            "another kind": (FILE, "kind: mpi\n", {"slotsPerWorker"}, {"elastic", "kind"}),
            "kinds": (FILE, "kind: ", {"pytorch", "batch"}, set()),
            "choices": (FILE, JOB + "state: ", {"active", "suspended", "finished"}, set()),
            "booleans": (FILE, JOB + "placement:\n  spot: ", {"true", "false"}, set()),
            "volumes as keys": (FILE, JOB.replace("  datasets: /data\n", "  d"), {"datasets"}, set()),
            "in braces": (FILE, JOB.replace("data:\n  datasets: /data\n", "data: {d"), {"datasets"}, set()),
            "fields in braces": (FILE, JOB + "placement: {spot: true, z", {"zone"}, {"readOnly"}),
            "networks": (FILE, JOB + "network: ", {"eni", "pod"}, {"true"}),
            "queues of the namespace": (FILE, JOB + "queue: ", {"fast", "slow"}, set()),
            "priorities": (FILE, JOB + "priority: ", {"high"}, set()),
            "clusters": (FILE, JOB + "clusters: [", {"dev"}, set()),
            "scopes": (FILE, JOB + "args: ['{{ ", {"params", "run", "job", "overlay"}, {"steps"}),
            "parameters": (FILE, JOB + "params: {x: 1}\nargs: ['{{ params.", {"lr"}, set()),
            "own parameters": (FILE, JOB + "params:\n  own: 1\nargs: ['{{ params.", {"lr", "own"}, set()),
            "filters": (FILE, JOB + "args: ['{{ params.lr | ", {"basename", "lower"}, set()),
            "steps": (
                FILE,
                "kind: pipeline\nsteps:\n  prepare:\n    kind: batch\n  train:\n    kind: pytorch\n    needs: [",
                {"prepare"},
                {"train"},
            ),
            "fields of a step": (
                FILE,
                "kind: pipeline\nsteps:\n  a:\n    kind: mpi\n    ",
                {"slotsPerWorker", "needs"},
                {"elastic", "sweep"},
            ),
            "fields of a role": (FILE, JOB + "roles:\n  master:\n    ", {"cpu", "env"}, {"sweep"}),
            "fields of an overlay": (OVERLAY_FILE, OVERLAY + "q", {"queues", "accelerators"}, {"volumes"}),
            "profiles": (OVERLAY_FILE, OVERLAY + "stores:\n  s3:\n    ", {"s3"}, set()),
            "defaults": (OVERLAY_FILE, 'kubernetes: "1.34"\ndefaults:\n  ', {"cpu", "image"}, {"sweep"}),
            "granted volumes": (
                OVERLAY_FILE,
                OVERLAY.replace("{gpus: 16,", "{volumes: [").split("[")[0] + "[",
                {"datasets"},
                set(),
            ),
            "nothing in a comment": (FILE, JOB + "# e", set(), {"elastic"}),
            "nothing in a script": (FILE, JOB + "files:\n  /x: |\n    e", set(), {"elastic", "env"}),
        },
    )


@pytest.mark.slow
def test_hover(repository: Repository) -> None:
    async def use(editor: Editor) -> None:
        text = JOB + "schedule: '0 3 1 1 *'\ncpu: 2\n"
        editor.open(FILE, text)
        await editor.until(lambda: editor.refreshed)
        lines = text.split("\n")
        found = {
            line.partition(":")[0].strip(): await editor.hover(FILE, number, 3) for number, line in enumerate(lines)
        }
        assert "Number of training pods" in found["workers"]
        assert "sets `cpu" not in found["kind"]  # the job has its own
        assert "Overlay `dev` has the default `cpu: 4` (overlays/dev/overlay.yaml:2)" in found["cpu"]
        assert "10Gi, nas:" in found["datasets"]
        assert "torchrun train.py --lr 0.1" in found["command"]
        assert found["schedule"].count("01-01 03:00") == 5

        async def shows(expected: str) -> None:
            """Wait for a hover of `gpus`: the devices are those of the text that was checked last."""
            async with asyncio.timeout(LIMIT_S):
                while expected not in await editor.hover(FILE, 4, 1):  # noqa: ASYNC110 - a hover causes no event
                    await asyncio.sleep(0.05)

        editor.change(FILE, JOB)
        await shows("Overlay `dev`: 1 pod of `master`, each with 1 `nvidia.com/gpu`, on any node that has them")
        await shows("Overlay `dev`: 1 pod of `worker`, each with 1")
        editor.open(
            OVERLAY_FILE,
            OVERLAY + "accelerators: {h100: {nvidia: NVIDIA-H100-80GB-HBM3, nodeLabels: {pool: training}}}\n",
        )
        nodes = "on nodes with `nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3`, `pool: training`"
        await shows(f"each with 1 `nvidia.com/gpu`, {nodes}")
        assert "Overlay `dev` sets `cpu: 4` (overlays/dev/overlay.yaml:2)" in await editor.hover(FILE, 0, 1)

    in_editor(repository.root, use)


ACTIVE = "![seen](https://evil.example.com/seen.png) [run](command:workbench.action.terminal.new)"
"""Text that loads a picture, and runs a command, in editors that take it for Markdown."""


@pytest.mark.slow
def test_no_text_of_a_file_is_active_in_a_hover_or_a_message(repository: Repository) -> None:
    name = f"A`` {ACTIVE}"
    script = "|\n  ```\n  {{ params.lr }} " + ACTIVE + "\n  ```\n  `````\n"
    text = f'{JOB}network: "{name}"\nargs:\n- {script}'
    repository.write(
        OVERLAY_FILE, f'{OVERLAY}defaults: {{cpu: 4, image: "a``` {ACTIVE}"}}\n'.replace("defaults: {cpu: 4}\n", "")
    )
    repository.write("jobs/team/other.yaml", f"{JOB}".replace("example.com/train:1", f'"{ACTIVE}"'))

    async def use(editor: Editor) -> None:
        editor.open(FILE, text)
        await editor.until(lambda: editor.shown.get(FILE))
        lines = text.split("\n")
        at = {line.strip(): await editor.hover(FILE, number, 12) for number, line in enumerate(lines)}
        assert ACTIVE in at[f"{{{{ params.lr }}}} {ACTIVE}"]
        assert any(ACTIVE in one for line, one in at.items() if line.startswith("network"))
        at["image"] = await editor.hover(FILE, 1, 1)
        assert "![seen]" in at["image"]
        for shown in at.values():
            tokens = MarkdownIt().parse(shown)
            assert not {inner.type for token in tokens for inner in token.children or ()} & {
                "image",
                "link_open",
                "html_inline",
            }
        editor.open("jobs/team/other.yaml")
        await editor.workspace_execute_command_async(
            types.ExecuteCommandParams(command=PIN, arguments=[editor.uri("jobs/team/other.yaml")])
        )
        (message,) = editor.messages
        assert "command:" in message
        assert "](" not in message

    in_editor(repository.root, use)


@pytest.mark.slow
def test_no_link_in_rendered_files_is_followed(repository: Repository) -> None:
    """A link to a device without an end would take all memory."""
    repository.render()
    link = repository.root / "rendered/dev/jobs/team/demo/forever.yaml"
    link.symlink_to("/dev/zero")

    async def use(editor: Editor) -> None:
        editor.open(FILE)
        await editor.until(lambda: editor.refreshed)
        editor.close(FILE)
        await editor.until(lambda: editor.shown.get("rendered/dev/jobs/team/demo/forever.yaml"))

    in_editor(repository.root, use)


@pytest.mark.slow
def test_definition_references_and_rename(repository: Repository) -> None:
    repository.write("jobs/team/other.yaml", JOB.replace("  datasets: /data", "  datasets: {path: /d}"))

    async def use(editor: Editor) -> None:
        editor.open(FILE)
        await editor.until(lambda: editor.refreshed)
        place = {"text_document": editor.document(FILE), "position": types.Position(7, 4)}
        found: Any = await editor.text_document_definition_async(types.DefinitionParams(**place))  # type: ignore[arg-type] # both
        assert [(editor.path(one.uri), one.range.start.line) for one in found] == [(OVERLAY_FILE, 4)]
        context = types.ReferenceContext(include_declaration=True)
        uses: Any = await editor.text_document_references_async(types.ReferenceParams(context=context, **place))  # type: ignore[arg-type] # both
        assert [editor.path(one.uri) for one in uses] == [FILE, "jobs/team/other.yaml", OVERLAY_FILE]
        edit: Any = await editor.text_document_rename_async(types.RenameParams(new_name="images", **place))  # type: ignore[arg-type] # both
        for uri, changes in edit.changes.items():
            path = repository.root / editor.path(uri)
            lines = path.read_text("utf-8").split("\n")
            for change in changes:
                line, start, end = change.range.start.line, change.range.start.character, change.range.end.character
                lines[line] = lines[line][:start] + change.new_text + lines[line][end:]
            path.write_text("\n".join(lines), "utf-8")

    in_editor(repository.root, use)
    assert "images: {path: /d}" in (repository.root / "jobs/team/other.yaml").read_text("utf-8")
    assert repository.render()[1] == 0


@pytest.mark.slow
def test_the_definition_of_a_rendered_line_is_the_line_that_decides_it(repository: Repository) -> None:
    assert repository.render()[1] == 0
    (path,) = [one for one in repository.rendered() if one.endswith("pytorchjob-demo.yaml")]
    path = f"rendered/{path.removeprefix('rendered/')}"
    lines = (repository.root / path).read_text("utf-8").split("\n")

    async def use(editor: Editor) -> None:
        editor.open(FILE)
        await editor.until(lambda: editor.refreshed > 1)
        editor.open(path)

        async def decided(text: str) -> int:
            line = next(number for number, one in enumerate(lines) if text in one)
            params = types.DefinitionParams(editor.document(path), types.Position(line, len(lines[line])))
            found: Any = await editor.text_document_definition_async(params)
            assert editor.path(found[0].uri) == FILE
            return int(found[0].range.start.line)

        rows = JOB.split("\n")
        assert rows[await decided("image: ")].startswith("image")
        assert rows[await decided("claimName: ")].startswith(("data", "  datasets"))
        assert rows[await decided("nvidia.com/gpu: ")].startswith("gpus")

    in_editor(repository.root, use)


def applied(text: str, edits: Iterable[types.TextEdit]) -> str:
    """A text with edits of whole lines."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda one: -one.range.start.line):
        end, last = edit.range.end.line, edit.range.end.character
        rest = lines[end][last:] if end < len(lines) else ""
        head = lines[edit.range.start.line][: edit.range.start.character]
        lines[edit.range.start.line : end + 1] = (head + edit.new_text + rest).split("\n")
    return "\n".join(lines)


@pytest.mark.slow
def test_actions(repository: Repository) -> None:
    async def use(editor: Editor) -> None:
        text = JOB + "gpuz: 1\n"
        editor.open(FILE, text)
        (shown,) = await editor.until(lambda: editor.shown.get(FILE))

        async def offered(line: int, last: int | None = None) -> dict[str, str]:
            where = types.Range(types.Position(line, 0), types.Position(line if last is None else last, 0))
            context = types.CodeActionContext(diagnostics=[shown])
            params = types.CodeActionParams(text_document=editor.document(FILE), range=where, context=context)
            found: Any = await editor.text_document_code_action_async(params)
            edits = {one.title: one.edit.changes[editor.uri(FILE)] for one in found if one.edit is not None}
            return {title: applied(text, edit) for title, edit in edits.items()}

        first = await offered(0)
        assert first["Suspend (as `gen suspend`)"] == text + "state: suspended\n"
        assert "attempt: 2\n" in first["Rerun (as `gen rerun`)"]
        assert "Resume (as `gen resume`)" not in first
        text = JOB.replace("workers: 2", "worker: 2")
        editor.change(FILE, text)
        await editor.until(lambda: "worker" in texts(editor.shown[FILE]))
        assert (await offered(3))["Rename it to `workers`"] == JOB
        text = JOB.replace("gpus: 1", "cpu: 4  # each\nmemory: 8Gi\ngpus: 1")
        editor.change(FILE, text)
        await editor.until(lambda: editor.codes(FILE) == [])
        moved = (await offered(4, 5))["Move `cpu`, `memory` to the role `worker`"]
        assert moved == JOB + "roles:\n  worker:\n    cpu: 4  # each\n    memory: 8Gi\n"
        assert "Move `workers` to the role `worker`" not in await offered(3)

    in_editor(repository.root, use)


@pytest.fixture
def served_code(tmp_path: Path) -> Iterator[str]:
    """The URL of a repository of code with one commit."""
    code = tmp_path / "git/code"
    git("init", "--quiet", "--initial-branch", "main", str(code))
    git("commit", "--quiet", "--allow-empty", "--message", "one", folder=code)
    with git_server(tmp_path / "git") as address:
        yield f"{address}/code/.git"


@pytest.mark.slow
def test_images_and_code_are_pinned(repository: Repository, served_code: str) -> None:
    image = JOB.replace("train:1", f"train@sha256:{64 * 'a'}")
    text = image + f"code: {{git: '{served_code}', ref: main, name: code}}\n"
    repository.write(FILE, text)

    async def use(editor: Editor) -> None:
        editor.open(FILE, text + "cpu: 8\n")
        await editor.until(lambda: editor.codes(FILE))

        async def offered(line: int) -> bool:
            where = types.Range(types.Position(line, 0), types.Position(line, 0))
            params = types.CodeActionParams(editor.document(FILE), where, types.CodeActionContext(diagnostics=[]))
            found: Any = await editor.text_document_code_action_async(params)
            return any(one.title == "Pin images and code (as `gen pin`)" for one in found)

        assert not await offered(1)  # the image has a digest
        assert await offered(8)
        run = types.ExecuteCommandParams(command="gen.pin", arguments=[editor.uri(FILE)])
        await editor.workspace_execute_command_async(run)
        assert await editor.until(lambda: editor.messages) == ["gen: save the file first: `gen pin` reads saved files"]
        editor.change(FILE, text)
        await editor.workspace_execute_command_async(run)
        await editor.until(lambda: len(editor.messages) > 1)
        assert "Pin images and code of team/demo" in editor.messages[1]
        async with asyncio.timeout(LIMIT_S):
            while await offered(8):  # noqa: ASYNC110 - a file on the disk causes no event
                await asyncio.sleep(0.05)

    in_editor(repository.root, use)
    assert "main:" in (repository.root / "jobs/team/demo.lock").read_text("utf-8")


@pytest.mark.slow
def test_effects(repository: Repository) -> None:
    async def use(editor: Editor) -> None:
        editor.open(FILE)
        await editor.until(lambda: editor.refreshed > 1)  # of the file, and of all files
        found: Any = await editor.text_document_code_lens_async(types.CodeLensParams(editor.document(FILE)))
        (lens,) = found
        assert lens.command.title == "1 run · 2 GPUs · team uses 2 of 16"
        params = types.ExecuteCommandParams(command="gen.showRendered", arguments=[editor.uri(FILE)])
        assert "kind: PyTorchJob" in str(await editor.workspace_execute_command_async(params))
        editor.change(FILE, JOB.replace("workers: 2", "workers: 4"))
        await asyncio.sleep(1)
        assert "replicas: 3" in str(await editor.workspace_execute_command_async(params))

    in_editor(repository.root, use)


WIDE = """\
kind: pytorch
image: example.com/train:1
command: 'echo 日本😀\t{{ params.lr }} {{ params.warm }}'
params: {lr: "😀", warm: "日\t本"}
timeout: 1h
annotations: {a: "日本語😀", gpuz: "\t"}
data: {images: {path: /日本😀, readOnyl: true}, datasets: /data}
files: {/x: "日本😀\t"}\t# 😀
"""
"""Characters of one to four bytes and tabs in front of what is asked."""
WIDE_OVERLAY = OVERLAY.replace(
    "  datasets:", '  images: {size: 1Gi, nas: {server: nas.example.com, path: "/日😀"}}\n  "datasets":'
)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_every_feature_counts_in_the_units_of_the_client(repository: Repository, encoding: str) -> None:
    repository.write(OVERLAY_FILE, WIDE_OVERLAY)
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]

    def units(text: str) -> int:
        return len(text.encode(encoding if encoding == "utf-8" else f"{encoding}-le")) // size

    def position(text: str, word: str) -> types.Position:
        """The place of a word, which the text has once."""
        before = text[: text.index(word)].split("\n")
        return types.Position(len(before) - 1, units(before[-1]))

    def words(text: str, ranges: Iterable[types.Range]) -> list[str]:
        """The text of ranges of the client."""
        found = []
        for one in ranges:
            line = text.split("\n")[one.start.line]
            at = [
                next(n for n in range(len(line) + 1) if units(line[:n]) == end.character)
                for end in (one.start, one.end)
            ]
            found.append(line[at[0] : at[1]])
        return found

    async def use(editor: Editor) -> None:
        document = editor.document(FILE)
        editor.open(FILE, WIDE)
        editor.open(OVERLAY_FILE)
        shown: list[types.Diagnostic] = await editor.until(lambda: editor.shown.get(FILE))
        assert words(WIDE, (one.range for one in shown)) == ["readOnyl"]

        at = position(WIDE, "datasets")
        assert "10Gi, nas:" in await editor.hover(FILE, at.line, at.character + 2)
        found: Any = await editor.text_document_definition_async(types.DefinitionParams(document, at))
        assert words(WIDE_OVERLAY, (one.range for one in found)) == ["datasets"]
        context = types.ReferenceContext(include_declaration=True)
        found = await editor.text_document_references_async(types.ReferenceParams(context, document, at))
        assert [words(WIDE if one.uri == document.uri else WIDE_OVERLAY, [one.range])[0] for one in found] == [
            "datasets",
            "datasets",
        ]
        place = position(WIDE, "warm }")
        found = await editor.text_document_rename_async(types.RenameParams(document, place, "steps"))
        edits = found.changes[document.uri]
        assert words(WIDE, (one.range for one in edits)) == ["warm", "warm"]

        where = types.Range(position(WIDE, "readOnyl"), position(WIDE, "readOnyl"))
        actions: Any = await editor.text_document_code_action_async(
            types.CodeActionParams(document, where, types.CodeActionContext(diagnostics=shown))
        )
        (fix,) = [one for one in actions if one.is_preferred]
        assert applied(WIDE, fix.edit.changes[document.uri]) == WIDE.replace("readOnyl", "readOnly")

        for end, label, replaced in (
            ("data: {images: /日本😀, dat", "datasets", "dat"),
            ("command: '日\t😀 {{ params.l", "lr", "l"),
            ("data: {images: {path: '/😀\t', readOnly: t", "true", "t"),
            ("annotations: {a: '日本😀'}\t# 😀\nnetw", "network", "netw"),
        ):
            text = WIDE.partition("annotations:")[0].replace("command:", "args:") + end
            editor.change(FILE, text)
            last = text.split("\n")[-1]
            params = types.CompletionParams(document, types.Position(text.count("\n"), units(last)))
            items: Any = await editor.text_document_completion_async(params)
            (item,) = [one for one in items if one.label == label]
            assert words(text, [item.text_edit.range]) == [replaced]
        editor.change(FILE, JOB + "annotations: {a: 日本😀}\n")
        await editor.until(lambda: editor.codes(FILE) == [])
        lenses: Any = await editor.text_document_code_lens_async(types.CodeLensParams(document))
        assert lenses[0].range.end == types.Position(0, 0)

    in_editor(repository.root, use, encoding)


@pytest.mark.slow
def test_two_repositories_and_files_outside_of_one(repository: Repository) -> None:
    other = Repository.at(repository.root / "nested")
    other.write("overlays/prod/overlay.yaml", OVERLAY.replace("datasets", "images"))
    other.write(FILE, JOB)
    (repository.root.parent / "alone.yaml").write_text("gpuz: 1\n", "utf-8")

    async def use(editor: Editor) -> None:
        editor.open(FILE, JOB + "gpuz: 1\n")
        editor.open(f"nested/{FILE}")
        await editor.until(lambda: editor.codes(FILE) and editor.codes(f"nested/{FILE}"))
        assert "datasets" in texts(editor.shown[f"nested/{FILE}"])
        uri = (repository.root.parent / "alone.yaml").as_uri()
        item = types.TextDocumentItem(uri=uri, language_id="yaml", version=0, text="gpuz: 1\n")
        editor.text_document_did_open(types.DidOpenTextDocumentParams(item))
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(0, 0))
        assert await editor.text_document_hover_async(params) is None

    in_editor(repository.root, use)


@pytest.mark.slow
def test_two_folders_opened_at_once(tmp_path: Path) -> None:
    for name in ("first", "second"):
        one = Repository.at(tmp_path / name)
        one.write("overlays/dev/overlay.yaml", OVERLAY.replace("datasets", f"of-{name}"))
        one.write(FILE, JOB)

    async def use(editor: Editor) -> None:
        for name in ("first", "second"):
            editor.open(f"{name}/{FILE}")
        await editor.until(lambda: all(editor.codes(f"{name}/{FILE}") for name in ("first", "second")))
        for name in ("first", "second"):
            editor.change(f"{name}/{FILE}", JOB.replace("datasets: /data", ""))
            assert await editor.labels(f"{name}/{FILE}", 7, 2) == [f"of-{name}"]

    in_editor(tmp_path, use, folders=("first", "second"))


@pytest.mark.slow
def test_what_is_no_repository_is_said_once(repository: Repository) -> None:
    repository.write("alone/jobs/team/demo.yaml", JOB)
    repository.write("linked/overlays/dev/overlay.yaml", OVERLAY)
    (repository.root / "linked/jobs").symlink_to(repository.root / "jobs")
    repository.write("charts/values.yaml", JOB)
    bare = repository.root / "bare"
    for folder in ("jobs", "objects", "refs"):
        (bare / folder).mkdir(parents=True)
    repository.write("bare/HEAD", "ref: refs/heads/main\n")
    repository.write("bare/overlays/dev/overlay.yaml", OVERLAY)

    async def use(editor: Editor) -> None:
        for path in ("alone/jobs/team/demo.yaml", "linked/overlays/dev/overlay.yaml", "bare/overlays/dev/overlay.yaml"):
            editor.open(path)
            editor.change(path, JOB)
        await editor.until(lambda: len(editor.messages) == 2)
        assert "linked/jobs is a symbolic link; replace it with the folder itself" in editor.messages[0]
        assert "bare is a bare Git repository" in editor.messages[1]

    in_editor(repository.root, use)


@pytest.mark.slow
def test_jobs_without_a_folder_of_overlays_give_one_message(tmp_path: Path) -> None:
    repository = Repository.at(tmp_path / "repository")
    repository.write(FILE, JOB)
    shutil.rmtree(repository.root / "overlays")
    repository.write("values.yaml", JOB)

    async def use(editor: Editor) -> None:
        editor.open("values.yaml")
        editor.open(FILE)
        (message,) = await editor.until(lambda: editor.messages)
        assert message == "gen: there is no folder overlays/ beside jobs/, so nothing is checked; `gen init` makes one"
        await editor.hover(FILE, 0, 0)
        assert editor.messages == [message]

    in_editor(repository.root, use)


@pytest.mark.slow
def test_a_cancelled_request_has_an_answer_and_the_server_goes_on(repository: Repository) -> None:
    async def use(editor: Editor) -> None:
        editor.open(FILE)
        await editor.until(lambda: editor.refreshed)
        params = types.ExecuteCommandParams(command="gen.showPlan", arguments=[editor.uri(FILE)])
        answer = editor.protocol.send_request_async(types.WORKSPACE_EXECUTE_COMMAND, params, msg_id="plan")
        task = asyncio.ensure_future(answer)
        await asyncio.sleep(0)
        editor.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(id="plan"))
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(JsonRpcException, match="is canceled"):
                await task
        assert "Number of training pods" in await editor.hover(FILE, 3, 3)

    in_editor(repository.root, use)


@pytest.mark.slow
def test_the_server_ends_with_its_editor() -> None:
    server = subprocess.Popen([sys.executable, "-m", "gen", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    server.stdin.write(b"Content-Length: 100\r\n\r\n{")
    server.stdin.close()
    assert server.wait(LIMIT_S) == 0
    assert server.stdout is not None
    server.stdout.close()


@pytest.mark.slow
def test_a_repository_without_overlays_gives_one_message(tmp_path: Path) -> None:
    repository = Repository.at(tmp_path / "repository")
    repository.write(FILE, JOB)
    (repository.root / OVERLAY_FILE).unlink()
    (repository.root / OVERLAY_FILE).parent.rmdir()

    async def use(editor: Editor) -> None:
        editor.open(FILE)
        (message,) = await editor.until(lambda: editor.messages)
        assert message == "gen: no overlay to render: none found; add overlays/<name>/overlay.yaml"
        editor.change(FILE, JOB + "\n")
        await asyncio.sleep(0.5)
        assert editor.messages == [message]

    in_editor(repository.root, use)


@pytest.mark.slow
def test_a_file_of_ten_megabytes(repository: Repository) -> None:
    async def use(editor: Editor) -> None:
        editor.open(FILE, JOB + "# x\n" * 2_600_000)
        await editor.until(lambda: editor.codes(FILE) == ["too-large"])
        assert "elastic" in await editor.labels(FILE, 8, 0)

    in_editor(repository.root, use)


@pytest.mark.slow
def test_a_change_cancels_the_check_of_all_files(repository: Repository) -> None:
    for number in range(60):
        repository.write(f"jobs/team/job-{number}.yaml", JOB.replace("datasets", "nothing"))

    async def use(editor: Editor) -> None:
        editor.open(FILE)
        await asyncio.sleep(0.3)  # all files are being checked
        editor.change(FILE, JOB + "gpuz: 1\n")
        await editor.until(lambda: "unknown-field" in editor.codes(FILE))
        await editor.until(lambda: editor.codes("jobs/team/job-59.yaml"))
        assert editor.published["jobs/team/job-59.yaml"] == 1

    in_editor(repository.root, use)


@pytest.mark.slow
def test_a_repository_of_another_version_is_not_checked(repository: Repository) -> None:
    repository.write("gen.yaml", "requires: ==9.9.0\n")

    async def use(editor: Editor) -> None:
        editor.open(FILE, "kind: unknown\n")
        (message,) = await editor.until(lambda: editor.messages)
        assert "this repository requires gen ==9.9.0" in message
        assert not editor.shown.get(FILE)
        repository.write("gen.yaml", "requires: '>=0'\n")
        editor.change(FILE, "kind: unknown_kind\n")
        assert await editor.until(lambda: editor.shown.get(FILE))

    in_editor(repository.root, use)
