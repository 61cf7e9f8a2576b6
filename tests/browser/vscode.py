"""A real VS Code: `code-server` of npm, with the packed extension, in Chromium.

With Node 24 on the path, run `npm install code-server@4 --ignore-scripts`, and in its folder `lib/vscode`
`npm install --omit=dev --ignore-scripts --legacy-peer-deps`. CODE_SERVER names its `out/node/entry.js`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

from tests.pins.servers import free_port
from tests.support import PROJECT

LIMIT_S = 60
SETTINGS = {
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.layoutControl.enabled": False,
    "window.commandCenter": False,
    "editor.minimap.enabled": False,
    "files.autoSave": "off",
    "telemetry.telemetryLevel": "off",
    "git.openRepositoryInParentFolders": "never",
}


def program() -> str | None:
    """The file that Node runs; None if it is not installed."""
    found = os.environ.get("CODE_SERVER") or shutil.which("code-server")
    return found if found and shutil.which("node") and shutil.which("npm") else None


def packed(folder: Path) -> Path:
    """The extension, packed by its own tool in a copy."""
    copy = folder / "extension"
    shutil.copytree(PROJECT / "editors/vscode", copy, ignore=shutil.ignore_patterns("node_modules", "*.vsix"))
    for command in (("npm", "install", "--silent", "--no-audit", "--no-fund"), ("npm", "run", "--silent", "package")):
        subprocess.run(command, cwd=copy, check=True, capture_output=True, timeout=300)
    (file,) = copy.glob("*.vsix")
    return file


class Window:
    """One window of VS Code."""

    def __init__(self, page: Any, address: str, root: Path) -> None:
        self.page, self.address, self.root = page, address, root

    def open(self, path: str) -> None:
        """Show the folder, with a file open."""
        payload = json.dumps([["openFile", f"vscode-remote://{self.address}{self.root}/{path}"]])
        self.page.goto(f"http://{self.address}/?folder={self.root}&payload={quote(payload)}")
        self.page.wait_for_selector(".view-lines", timeout=LIMIT_S * 1000)

    def until(self, condition: Callable[[], Any]) -> Any:
        """Wait until a condition is true, and return its value."""
        for _ in range(LIMIT_S * 10):
            if value := condition():
                return value
            self.page.wait_for_timeout(100)
        raise TimeoutError(f"the window shows:\n{self.page.inner_text('body')}")

    def texts(self, selector: str) -> list[str]:
        return [text.replace("\xa0", " ") for text in self.page.locator(selector).all_inner_texts()]

    def messages(self) -> list[str]:
        return self.texts(".notification-toast .notification-list-item-message")

    def mistakes(self) -> int:
        """The underlined places in the file."""
        return int(self.page.locator(".squiggly-error").count())

    def run(self, title: str) -> None:
        """Run a command by its title."""
        self.page.keyboard.press("F1")
        self.page.wait_for_selector(".quick-input-widget input")
        self.page.keyboard.type(title)
        self.until(lambda: any(title in text for text in self.texts(".quick-input-list .monaco-list-row")[:1]))
        self.page.keyboard.press("Enter")

    def type_at_end(self, text: str) -> None:
        self.page.locator(".view-lines").first.click()
        self.page.keyboard.press("Control+End")
        self.page.keyboard.type(text, delay=20)


def _answers(address: str) -> bool:
    with suppress(URLError, ConnectionError), urlopen(f"http://{address}/healthz", timeout=5):
        return True
    return False


@contextmanager
def window(chromium: Any, folder: Path, root: Path, vsix: Path, gen: Path) -> Iterator[Window]:
    """A window of a host of its own, whose machine has the setting `gen.path`."""
    entry = str(program())
    user = folder / "user"
    for name, values in (("User", SETTINGS), ("Machine", {"gen.path": str(gen)})):
        (user / name).mkdir(parents=True)
        (user / name / "settings.json").write_text(json.dumps(values), "utf-8")
    node = ["node"] if entry.endswith(".js") else []
    command = [*node, entry, f"--user-data-dir={user}", f"--extensions-dir={folder / 'extensions'}"]
    environment = {**os.environ, "HOME": str(folder)}
    with (folder / "log").open("w") as log:
        options: Any = {"env": environment, "stdout": log, "stderr": subprocess.STDOUT}
        subprocess.run([*command, f"--install-extension={vsix}"], check=True, timeout=LIMIT_S, **options)
        address = f"127.0.0.1:{free_port()}"
        quiet = ("--auth=none", "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust")
        host = subprocess.Popen([*command, *quiet, f"--bind-addr={address}"], **options)
        try:
            page = chromium.new_page(viewport={"width": 1100, "height": 560})
            shown = Window(page, address, root)
            shown.until(lambda: _answers(address))
            yield shown
            page.close()
        finally:
            host.terminate()
            host.wait()
