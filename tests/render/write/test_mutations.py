"""No change below `rendered/` passes `gen check`: 1,000 random files, edits, modes, links, folders and submodules."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from gen.base.findings import Findings, UsageError
from gen.base.repository.git import check_index
from gen.commands import check as check_command
from gen.commands.check import Request, check
from gen.commands.rendering import RenderedRepository, render_and_compare
from gen.render.write import compare
from tests.adversary.miner import MINER
from tests.history import JOB, History
from tests.render.write.test_foreign import FORGED_JOB, forged

if TYPE_CHECKING:
    from collections.abc import Callable

MUTATIONS = 1000
IN_THE_INDEX = 0.1
"""Share of mutations that only Git sees: each takes several processes."""
NAMES = (
    *("x.yaml", "x.yml", "x.json", "x", "README.md", ".hidden", "deployment-x.yaml", "pytorchjob-demo.yaml", "x.YAML"),
    *(
        "persistentvolume-x.yaml",
        "kustomization.yaml",
        ".gitmodules",
        "Chart.yaml",
        ".argocd-source-x.yaml",
        "x.jsonnet",
    ),
    *("\u00e9.yaml", "a b.yaml", ".gitattributes", ".git", "core", "pytorchjob-demo.yaml~", "x.sops.yaml", "x.tmp"),
)
FOLDERS = (
    "",
    "dev",
    "dev/jobs",
    "dev/jobs/team",
    "dev/jobs/team/demo",
    "dev/jobs/a/b",
    "dev/storage/team",
    "argocd/dev",
)


class Mutator:
    """Changes one thing below `rendered/`, and returns a description."""

    def __init__(self, history: History, choice: random.Random) -> None:
        self.history, self.choice = history, choice
        self.top = history.root / "rendered"
        self.files = sorted(path for path in self.top.rglob("*") if path.is_file())
        self.folders = {path for path in self.top.rglob("*") if path.is_dir()}
        self.content = {path: (path.read_bytes(), path.stat().st_mode) for path in self.files}

    def restore(self) -> None:
        (self.history.root / "outside").unlink(missing_ok=True)
        for folder, folders, files in os.walk(self.top, topdown=False):
            for path in (Path(folder, name) for name in (*files, *folders)):
                if path not in self.content and path not in self.folders:
                    path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        for path, (raw, mode) in self.content.items():
            if path.is_symlink():
                path.unlink()
            if not path.exists() or path.read_bytes() != raw:
                path.write_bytes(raw)
            if path.stat().st_mode != mode:
                path.chmod(mode)

    def file(self) -> Path:
        return self.choice.choice(self.files)

    def free(self) -> Path:
        """A path without an entry, in an old or a new folder."""
        while True:
            path = self.top / self.choice.choice(FOLDERS) / self.choice.choice(NAMES)
            if not os.path.lexists(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                return path

    def add(self) -> str:
        path = self.free()
        texts = (MINER, forged(MINER), forged(FORGED_JOB, "jobs/team/demo.yaml"), "", "text\n", self.file().read_text())
        path.write_text(self.choice.choice(texts))
        return f"new {path}"

    def copy(self) -> str:
        path, source = self.free(), self.file()
        shutil.copyfile(source, path)
        return f"copy of {source} at {path}"

    def edit(self) -> str:
        path = self.file()
        raw = bytearray(path.read_bytes())
        at = self.choice.randrange(len(raw))
        edits: tuple[Callable[[], object], ...] = (
            lambda: raw.insert(at, self.choice.choice(b" x0-#\n")),
            lambda: raw.pop(at),
            lambda: raw.__setitem__(at, raw[at] ^ 1),
        )
        self.choice.choice(edits)()
        path.write_bytes(raw)
        return f"edit of {path} at {at}"

    def forge(self) -> str:
        """Another text with a valid header."""
        path = self.file()
        text = path.read_text().split("\n", 1)[1]
        path.write_text(
            forged(f"{text}x: y\n", self.choice.choice(("jobs/team/demo.yaml", "overlays/dev/overlay.yaml")))
        )
        return f"forged {path}"

    def remove(self) -> str:
        path = self.file()
        path.unlink()
        return f"removed {path}"

    def move(self) -> str:
        path, target = self.file(), self.free()
        path.rename(target)
        return f"{path} moved to {target}"

    def mode(self) -> str:
        path = self.file()
        path.chmod(path.stat().st_mode | self.choice.choice((0o100, 0o111, 0o110)))
        return f"mode of {path}"

    def link(self) -> str:
        path = self.free()
        path.symlink_to(self.choice.choice(("/etc/passwd", "../../jobs", str(self.file()), "nowhere", ".")))
        return f"link {path}"

    def relink(self) -> str:
        """A link to a file with the right content."""
        path = self.file()
        outside = self.history.root / "outside"
        path.rename(outside)
        path.symlink_to(outside)
        return f"link in the place of {path}"

    def empty(self) -> str:
        path = self.free()
        path.mkdir()
        return f"empty {path}"

    def pipe(self) -> str:
        path = self.free()
        os.mkfifo(path)
        return f"pipe {path}"

    def stage(self) -> str:
        """An entry of the index that the work tree does not show."""
        new = ((self.top / "x", "160000"), (self.top / "dev/jobs/sub", "160000"), (self.top / ".gen.tmp/0", "100644"))
        known = tuple((self.file(), mode) for mode in ("160000", "100755"))
        path, mode = self.choice.choice((*new, *known))
        inner = path.relative_to(self.history.root).as_posix()
        digest = "1" * 40 if mode == "160000" else self.history.git("hash-object", "-w", str(self.files[0]))
        self.history.git("update-index", "--add", "--replace", "--cacheinfo", f"{mode},{digest},{inner}")
        return f"{mode} {inner} in the index"


WORK_TREE = (
    *(Mutator.add, Mutator.copy, Mutator.edit, Mutator.forge, Mutator.remove, Mutator.move),
    *(Mutator.mode, Mutator.link, Mutator.relink, Mutator.empty, Mutator.pipe),
)


@pytest.mark.slow
def test_every_mutation_is_found(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    overlay = history.root / "overlays/dev/overlay.yaml"
    overlay.write_text(overlay.read_text() + "gitops: {flux: {repoURL: https://a.example}}\n")
    history.job(JOB + "data: {nas: /data}\nfiles: {/etc/a: x}\ntensorboard: {logdir: /data/logs}\n")
    history.commit("base")
    request = Request(root=history.root, parallel=1)
    rendering = render_and_compare(request, None).rendering
    texts = {path: (history.root / path).read_text() for path in rendering.files}
    files = {path: structs.replace(one, text=texts[path], stored="") for path, one in rendering.files.items()}

    def compared(_request: Request, _cache: object, **_options: object) -> RenderedRepository:
        """The inputs never change, so they are rendered once."""
        again = structs.replace(rendering, files=files, findings=Findings())
        return RenderedRepository(
            root=history.root, rendering=again, comparison=compare(history.root, again, again.findings)
        )

    def accepted() -> bool:
        try:
            return check(request).exit_code == 0
        except UsageError:
            return False

    monkeypatch.setattr(check_command, "render_and_compare", compared)
    index = (history.root / ".git/index").read_bytes()
    choice = random.Random(10)  # noqa: S311 - reproducible
    mutator = Mutator(history, choice)
    assert accepted()
    passed = []
    for _ in range(MUTATIONS):
        in_index = choice.random() < IN_THE_INDEX
        monkeypatch.setattr(check_command, "check_index", check_index if in_index else lambda *_: None)
        said = mutator.stage() if in_index else choice.choice(WORK_TREE)(mutator)
        if accepted():
            passed.append(said)
        mutator.restore()
        if in_index:
            (history.root / ".git/index").write_bytes(index)
    assert passed == []
