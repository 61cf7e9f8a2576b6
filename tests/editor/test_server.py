"""`gen lsp` in a process, with a client of the protocol. The sessions run at once: a process starts in a second."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from markdown_it import MarkdownIt

from gen.editor.actions import PIN
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
            "fields in braces": (FILE, JOB + "placement: {spot: true, z", {"zone"}, {"spot"}),
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


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_positions_count_in_the_units_of_the_client(repository: Repository, encoding: str) -> None:
    text = JOB + 'labels: {a: "日本語😀", b\t: x, networ: 😀}\n'.replace("\t", " ") + 'files: {/x: "日本😀", y: z}\n'
    line = text.split("\n")[-2]
    at = line.index("y: z")
    units = {"utf-8": len(line[:at].encode()), "utf-16": len(line[:at].encode("utf-16-le")) // 2, "utf-32": at}

    async def use(editor: Editor) -> None:
        editor.open(FILE, text)
        shown = await editor.until(lambda: editor.shown.get(FILE))
        (one,) = [item for item in shown if "`y`" in item.message or item.range.start.line == text.count("\n") - 1]
        assert one.range.start.character == units[encoding]

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
