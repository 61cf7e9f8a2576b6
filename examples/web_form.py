"""A web form that proposes a job: it opens a branch with the job and its rendered files, and shows the plan.

    python examples/web_form.py CLONE [PORT]

`CLONE` is a clone with a remote `origin`, to which Git may push. The form is for this machine alone: put a proxy that
knows your users before it. `propose` is all that another portal needs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

from gen.api import Repository, UsageError

PAGE = """<!doctype html><meta charset="utf-8"><title>New job</title><h1>New job</h1>
<form method="post">
<p><label>Namespace <input name="namespace" required></label>
<p><label>Name <input name="name" required></label>
<p><label>Kind <input name="kind" value="pytorch" required></label>
<p><label>Fields, one <code>name=value</code> a line<br><textarea name="fields" rows="8" cols="80"></textarea></label>
<p><button>Propose</button>
</form>"""


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(done.stderr.strip())
    return done.stdout


@contextmanager
def work_tree(clone: Path, base: str) -> Iterator[Path]:
    """A work tree of its own for each request, at the newest commit of the base."""
    git(clone, "fetch", "--quiet", "origin")
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "repository")
        git(clone, "worktree", "add", "--quiet", "--detach", str(folder), base)
        try:
            yield folder
        finally:
            git(clone, "worktree", "remove", "--force", str(folder))


def propose(
    clone: Path, namespace: str, name: str, kind: str, fields: Mapping[str, str], base: str = "origin/main"
) -> tuple[bool, str]:
    """Push the branch `jobs/<namespace>/<name>`, and return the plan; or the findings, without a branch."""
    with work_tree(clone, base) as folder:
        repository = Repository(folder)
        repository.new(name, kind=kind, namespace=namespace)
        changed = repository.set(f"{namespace}/{name}", fields) if fields else None
        answer = repository.render() if changed is None or changed.ok else changed
        if not answer.ok:
            return False, answer.text()
        plan = repository.plan(base)
        git(folder, "add", "jobs", "rendered")
        git(folder, "commit", "--quiet", "--message", f"Add {namespace}/{name}")
        git(folder, "push", "--quiet", "origin", f"HEAD:refs/heads/jobs/{namespace}/{name}")
        return plan.ok, plan.text()


class Form(BaseHTTPRequestHandler):
    clone: Path

    def do_GET(self) -> None:
        self._send(200, PAGE)

    def do_POST(self) -> None:
        if self.headers["Origin"] != f"http://{self.headers['Host']}":  # a page of another site sends the form
            self._send(403, "Send the form from its own page.")
            return
        size = min(int(self.headers["Content-Length"] or 0), 1 << 20)
        sent = {name: values[0] for name, values in parse_qs(self.rfile.read(size).decode()).items()}
        lines = [line.partition("=") for line in sent.get("fields", "").splitlines() if line.strip()]
        fields = {field.strip(): value.strip() for field, _, value in lines}
        try:
            namespace, name, kind = (sent.get(one, "") for one in ("namespace", "name", "kind"))
            opened, text = propose(self.clone, namespace, name, kind, fields)
        except UsageError as error:
            opened, text = False, str(error)
        title = "The branch is open" if opened else "Nothing to merge yet"
        self._send(200 if opened else 422, f"{PAGE}<h2>{title}</h2><pre>{escape(text)}</pre>")

    def _send(self, status: int, page: str) -> None:
        body = page.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def server(clone: Path, port: int) -> ThreadingHTTPServer:
    return ThreadingHTTPServer(("127.0.0.1", port), type("FormOf", (Form,), {"clone": clone}))


if __name__ == "__main__":
    with server(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 8000) as form:
        print(f"http://127.0.0.1:{form.server_port}/")
        form.serve_forever()
