"""VS Code with the packed extension: findings, completion, documents, and one message for each thing that is broken."""

from __future__ import annotations

import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.browser.vscode import Window, packed, program, window
from tests.editor.test_server import FILE, JOB, OVERLAY, OVERLAY_FILE
from tests.pins.servers import git
from tests.support import Repository

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(program() is None, reason="set CODE_SERVER to `out/node/entry.js` of npm's code-server"),
]
GEN = Path(sys.executable).with_name("gen")
MISSPELLED = JOB.replace("workers:", "worker:")


@pytest.fixture(scope="module")
def vsix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packed(tmp_path_factory.mktemp("vsix"))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    one = Repository.at(tmp_path / "training")
    one.write(OVERLAY_FILE, OVERLAY)
    one.write(FILE, JOB)
    git("init", "--quiet", folder=one.root)
    git("add", ".", folder=one.root)
    git("commit", "--quiet", "--message", "one", folder=one.root)
    one.write(FILE, MISSPELLED)
    return one


def servers(root: Path) -> list[int]:
    """The processes of `gen lsp` in a repository."""
    found = []
    for one in Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                words, where = (one / "cmdline").read_bytes().split(b"\0"), (one / "cwd").readlink()
            except OSError:
                continue
            if words[-2:-1] == [b"lsp"] and where == root:
                found.append(int(one.name))
    return found


def test_findings_completion_fixes_and_documents(
    chromium: Any, vsix: Path, repository: Repository, tmp_path: Path
) -> None:
    with window(chromium, tmp_path / "host", repository.root, vsix, GEN) as code:
        code.open(FILE)
        code.until(code.mistakes)
        code.run("Go to Next Problem in Files (Error, Warning, Info)")
        (problem,) = code.until(lambda: code.texts(".marker-widget"))
        assert "did you mean `workers`?" in problem
        code.page.keyboard.press("Escape")
        code.page.keyboard.press("Control+.")
        code.until(lambda: any("Rename it to `workers`" in one for one in code.texts(".action-widget")))
        code.page.keyboard.press("Enter")
        code.until(lambda: not code.mistakes() and "workers: 2" in code.texts(".view-lines")[0])

        code.type_at_end("network: ")
        code.page.keyboard.press("Control+Space")
        code.until(lambda: any("eni" in one for one in code.texts(".suggest-widget .monaco-list-row")))
        code.page.keyboard.press("Escape")
        code.page.keyboard.type("pod\n")

        code.run("gen: Show rendered objects")
        code.until(lambda: any("kind: PyTorchJob" in one for one in code.texts(".view-lines")))
        code.page.keyboard.press("Control+s")
        code.run("gen: Show plan")
        code.until(lambda: any("no data is lost" in one for one in code.texts(".view-lines")))
        assert code.messages() == []
        (server,) = servers(repository.root)
        ends(code, repository, server)


def ends(code: Window, repository: Repository, server: int) -> None:
    """A server that is ended starts again, with one message; after five times it stays off until it is restarted."""
    for mistakes in range(1, 5):
        os.kill(server, signal.SIGKILL)
        server = restarted(code, repository, server)
        code.type_at_end(f"wrong{mistakes}: 1\n")
        shows(code, mistakes)
        assert code.messages() == ["gen: the language server ended (SIGKILL) and is started again"]
    os.kill(server, signal.SIGKILL)
    code.until(lambda: "gen: the language server ended (SIGKILL) too often, and stays off" in code.messages())
    assert servers(repository.root) == []
    code.run("gen: Restart the language server")
    code.type_at_end("wrong5: 1\n")
    shows(code, 5)


def restarted(code: Window, repository: Repository, old: int) -> int:
    """The server that came after another one."""
    (server,) = code.until(lambda: [one for one in servers(repository.root) if one != old])
    return int(server)


def shows(code: Window, mistakes: int) -> None:
    code.until(lambda: code.mistakes() == mistakes)


def broken(folder: Path, how: str) -> Path:
    """A program that does not start."""
    file = folder / "gen"
    if how == "not installed":
        return file
    text = {
        "its Python is gone": "#!/nothing/bin/python\n",
        "another Python": f"#!{sys.executable} -I\nimport sys\nsys.path[:] = []\nfrom gen.__main__ import main\n",
        "without the extra": f"#!{sys.executable}\nimport sys\nsys.modules['pygls'] = None\n"
        "from gen.__main__ import main\nmain()\n",
    }[how]
    file.write_text(text, "utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("not installed", "gen was not found: install gen, or set gen.path to its full path"),
        ("its Python is gone", "gen does not start: the Python of its environment is gone"),
        ("another Python", "gen lsp did not start (exit code 1): ModuleNotFoundError: No module named 'gen'"),
        ("without the extra", "this command needs a language server library: `pip install 'gitops-gen[editor]'`"),
    ],
)
def test_a_broken_environment_has_one_message(
    chromium: Any, vsix: Path, repository: Repository, tmp_path: Path, how: str, expected: str
) -> None:
    with window(chromium, tmp_path / "host", repository.root, vsix, broken(tmp_path, how)) as code:
        code.open(FILE)
        (message,) = code.until(code.messages)
        assert expected in message
        code.page.wait_for_timeout(1000)
        assert code.messages() == [message]
