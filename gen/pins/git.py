"""Git servers: the commit of a ref, whether a commit exists, and pages that compare commits.

Git sends the requests, with the user's own credentials. A ref is looked up as `git fetch` does, which git-sync runs
(git `refs.h`, `ref_rev_parse_rules`). Pages are from the documentation of GitHub ("Comparing commits"), GitLab
("Compare revisions"), Gitea and Forgejo, and Bitbucket.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from typing import Final

from gen.base.codes.pins import MISSING_COMMIT, REMOTE_LOGIN, REMOTE_UNREACHABLE
from gen.base.regex import regex
from gen.job.names import is_git_url
from gen.job.scalars import shown
from gen.pins.lock import COMMIT
from gen.pins.reference import RemoteError

_ORDER: Final = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
_SETTINGS: Final = ("-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "credential.interactive=false")
_SHA1_DIGITS: Final = 40
_PEELED: Final = "^{}"
_FORBIDDEN: Final = frozenset("*?[\\ ~^:")
"""Characters that no ref has (`git check-ref-format`); some are patterns for `git ls-remote`."""
_UNKNOWN_COMMIT: Final = ("not our ref", "unadvertised object", "couldn't find remote ref", "no such remote ref")
_LOGIN: Final = (
    "authentication failed",
    "could not read username",
    "could not read password",
    "permission denied",
    "terminal prompts disabled",
    "host key verification failed",
    "access denied",
    "returned error: 401",
    "returned error: 403",
)
_NO_CONNECTION: Final = ("could not resolve host", "failed to connect", "connection refused", "connection timed out")
_MISSING: Final = ("not found", "does not exist", "does not appear to be a git repository")


def commit_of(url: str, ref: str, seconds: float) -> str:
    """The commit of a branch or a tag. RemoteError if there is none."""
    if set(ref) & _FORBIDDEN or ref.startswith("-"):
        raise _no_ref(url, ref, "correct `code.ref`")
    names = [form.format(ref) for form in _ORDER]
    patterns = [pattern for name in names for pattern in (name, name + _PEELED)]
    done = _git(("ls-remote", "--quiet", "--", url, *patterns), url, seconds)
    if done.returncode != 0:
        raise _refusal(url, done)
    lines = (line.partition("\t") for line in done.stdout.decode("utf-8", "replace").splitlines())
    listed = {name: commit for commit, _, name in lines}
    for name in names:
        commit = listed.get(name + _PEELED) or listed.get(name)
        if commit is not None and COMMIT.fullmatch(commit):
            return commit
    raise _no_ref(url, ref, "correct `code.ref`; an abbreviated commit hash must be written in full")


def require_commit(url: str, commit: str, seconds: float) -> None:
    """RemoteError if the server does not give the commit to those who fetch it."""
    with tempfile.TemporaryDirectory(prefix="gen-pin-") as folder:
        form = "sha256" if len(commit) > _SHA1_DIGITS else "sha1"
        made = _git(("init", "--quiet", "--bare", f"--object-format={form}", folder), url, seconds)
        fetch = (
            "-C",
            folder,
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--filter=tree:0",
            "--",
            url,
            commit,
        )
        done = _git(fetch, url, seconds) if made.returncode == 0 else made
    said = done.stderr.decode("utf-8", "replace").lower()
    if done.returncode != 0 and any(phrase in said for phrase in _UNKNOWN_COMMIT):
        raise RemoteError(
            MISSING_COMMIT, f"`{shown_url(url)}` has no commit `{commit}`", "push it, or run `gen pin --update`"
        )
    if done.returncode != 0:
        raise _refusal(url, done)


def _git(arguments: tuple[str, ...], url: str, seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Run Git outside of any repository, without prompts, and end it with its children after the limit of time."""
    if not is_git_url(url):
        raise RemoteError(MISSING_COMMIT, f"{shown(url)} is not a valid URL of a Git repository", "correct `code.git`")
    process = None
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell
            ["git", *_SETTINGS, *arguments],  # noqa: S607 - Git of the user
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tempfile.gettempdir(),
            env=_environment(),
            start_new_session=True,
        )
        out, err = process.communicate(timeout=seconds)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)
    except FileNotFoundError:
        raise RemoteError(REMOTE_UNREACHABLE, "`git` is not installed", "install Git") from None
    except subprocess.TimeoutExpired:
        message = f"the Git server of `{shown_url(url)}` did not answer within {seconds:g} s"
        hint = "run the command again, or raise `--request-timeout`"
        raise RemoteError(REMOTE_UNREACHABLE, message, hint, silent=True) from None
    finally:
        if process is not None and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def _environment() -> dict[str, str]:
    """The variables of the user, without those of a repository, and with only the protocols that jobs may have."""
    kept: Mapping[str, str] = {
        name: value
        for name, value in os.environ.items()
        if name not in {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_TRACE"}
        and not name.startswith("GIT_TRACE_")
    }
    return {
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
        "GIT_ASKPASS": "true",  # a program of the user may have the password
        **kept,
        "GIT_TERMINAL_PROMPT": "0",
        "SSH_ASKPASS": "true",
        "SSH_ASKPASS_REQUIRE": "never",
        "GCM_INTERACTIVE": "never",
        "GIT_ALLOW_PROTOCOL": "https:http:ssh",
        "LC_ALL": "C",
    }


def _no_ref(url: str, ref: str, hint: str) -> RemoteError:
    return RemoteError(MISSING_COMMIT, f"`{shown_url(url)}` has no branch or tag {shown(ref)}", hint)


def _refusal(url: str, done: subprocess.CompletedProcess[bytes]) -> RemoteError:
    """The reason by its words: Git may print an address with credentials from its configuration."""
    said = done.stderr.decode("utf-8", "replace").lower()
    check = f"run `git ls-remote {shown_url(url)}` to see why"
    if any(phrase in said for phrase in _LOGIN):
        return RemoteError(
            REMOTE_LOGIN, f"you may not read `{shown_url(url)}`", f"configure credentials for Git; {check}"
        )
    if any(phrase in said for phrase in _MISSING):
        return RemoteError(
            MISSING_COMMIT, f"the Git repository `{shown_url(url)}` does not exist", f"correct `code.git`; {check}"
        )
    silent = any(phrase in said for phrase in _NO_CONNECTION)
    return RemoteError(REMOTE_UNREACHABLE, f"cannot read `{shown_url(url)}` from its Git server", check, silent=silent)


def shown_url(url: str) -> str:
    """A URL without a user name."""
    start, _, rest = url.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{start}://{host.rpartition('@')[2]}{slash}{path}" if start else url


def host_of(url: str) -> str:
    """The host of a URL, also in the form `git@host:path`."""
    _, separator, rest = url.partition("://")
    host = rest.partition("/")[0] if separator else url.partition(":")[0]
    return host.rpartition("@")[2]


_URL: Final = regex(r"(?:https?://|ssh://)?(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9.-]+)(?::\d+)?[:/](?P<path>[\w./~-]+)")
_GITLAB: Final = "https://{host}/{path}/-/compare/{old}...{new}"
_COMPARE: Final = "https://{host}/{path}/compare/{old}...{new}"
_PAGES: Final = (
    ("gitlab", _GITLAB),
    ("github", _COMPARE),
    ("gitea", _COMPARE),
    ("forgejo", _COMPARE),
    ("codeberg.org", _COMPARE),
    ("bitbucket.org", "https://{host}/{path}/branches/compare/{new}..{old}"),
)
"""Words in names of hosts, and the page of these servers."""


def comparison(url: str, old: str, new: str) -> str:
    """The page that shows the commits from `old` to `new`; empty for unknown servers."""
    match = _URL.fullmatch(url)
    if match is None or not (old.isalnum() and new.isalnum()):
        return ""
    host, path = match["host"].lower(), match["path"].strip("/").removesuffix(".git")
    form = next((form for word, form in _PAGES if word in host), "")
    return form.format(host=host, path=path, old=old, new=new)
