"""Draw the pictures of `docs/editors.md` in real editors: a job with a finding, names of an overlay, and a plan.

Neovim needs `nvim` and `tmux`, and VS Code what `tests/browser/vscode.py` names. One that is not there is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from io import StringIO
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

from tests.browser.vscode import packed, program, window
from tests.pins.servers import git

PROJECT = Path(__file__).resolve().parent.parent
PICTURES = PROJECT / "docs/images"
WIDTH, HEIGHT = 100, 16
SETTINGS = """\
vim.diagnostic.config({update_in_insert = true})
vim.o.number, vim.o.completeopt, vim.o.shortmess = true, "menu,menuone,noinsert", vim.o.shortmess .. "c"
vim.api.nvim_create_autocmd("FileType", {pattern = "yaml", callback = function()
  vim.bo.omnifunc = "v:lua.vim.lsp.omnifunc"
  local id = vim.lsp.start_client({name = "gen", cmd = {vim.env.GEN, "lsp"}, root_dir = vim.fn.getcwd()})
  vim.lsp.buf_attach_client(0, id)
end})
"""
JOB = """\
kind: pytorch
image: registry.example.com/team/train:1.4
command: torchrun train.py --lr {{ params.lr }}
params: {lr: "0.1"}
worker: 4
gpus: 8
timeout: 12h
"""
STEPS = (((), "unknown field"), (("Go", "network: "), "network"), (("C-x", "C-o"), "eni"))
"""Keys, and the text that the screen shows after them."""
LIMIT_S = 60.0
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""Fonts of another host, which a page of the documentation does not ask for."""


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    gen = Path(sys.executable).with_name("gen")
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "training"
        for folder in ("jobs", "overlays", "rendered"):
            shutil.copytree(PROJECT / folder, root / folder)
        for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "--message", "start")):
            git(*words, folder=root)
        job = root / "jobs/training/resnet.yaml"
        if shutil.which("nvim") and shutil.which("tmux"):
            job.write_text(JOB, "utf-8")
            (Path(name) / "init.lua").write_text(SETTINGS, "utf-8")
            (PICTURES / "neovim.svg").write_text(drawn(session(root, job, str(gen))), "utf-8")
        if program() is not None:
            job.write_text(JOB.replace("worker: 4", "workers: 2"), "utf-8")
            subprocess.run([gen, "render"], cwd=root, check=True)
            draw_vscode(Path(name), root, gen, job.relative_to(root).as_posix())


def draw_vscode(folder: Path, root: Path, gen: Path, job: str) -> None:
    """The plan beside a job with a misspelled field."""
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with window(chromium, folder / "host", root, packed(folder), gen) as code:
            code.open(job)
            code.until(lambda: code.texts(".codelens-decoration"))
            code.run("gen: Show plan")
            code.until(lambda: any("no data is lost" in one for one in code.texts(".view-lines")))
            code.page.keyboard.press("Control+b")
            code.type_at_end("chekpoints: {path: /out}\n")
            code.until(code.mistakes)
            code.run("Go to Next Problem in Files (Error, Warning, Info)")
            code.until(lambda: code.texts(".marker-widget"))
            code.page.screenshot(path=PICTURES / "vscode.png")
        chromium.close()


def session(root: Path, job: Path, gen: str) -> str:
    """The screen after the keys, with its colors."""
    tmux = ["tmux", "-L", f"gen-{os.getpid()}"]
    command = f"cd {root} && GEN={gen} nvim --clean -u ../init.lua {job.relative_to(root)}"
    size = ("-x", str(WIDTH), "-y", str(HEIGHT))
    subprocess.run([*tmux, "new-session", "-d", *size, command], check=True)
    try:
        time.sleep(2)
        for keys, expected in STEPS:
            for key in keys:
                subprocess.run([*tmux, "send-keys", key], check=True)
                time.sleep(0.5)
            end, screen = time.monotonic() + LIMIT_S, ""
            while expected not in screen:
                if time.monotonic() > end:
                    raise TimeoutError(f"no `{expected}` on the screen:\n{screen}")
                time.sleep(0.5)
                capture = [*tmux, "capture-pane", "-e", "-p"]
                screen = subprocess.run(capture, check=True, capture_output=True, text=True).stdout
        return screen
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


def drawn(screen: str) -> str:
    console = Console(width=WIDTH, record=True, file=StringIO(), force_terminal=True)
    for line in screen.rstrip("\n").split("\n"):
        console.print(Text.from_ansi(line), no_wrap=True, crop=True)
    return _FONTS.sub("", console.export_svg(title="nvim jobs/training/resnet.yaml", unique_id="neovim"))


if __name__ == "__main__":
    main()
