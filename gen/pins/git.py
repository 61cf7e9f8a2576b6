"""Git servers: the commit of a ref, the files of a commit, whether it exists, and pages that compare commits.

Git sends the requests, with the user's own credentials. A ref is looked up as `git fetch` does, which git-sync runs
(git `refs.h`, `ref_rev_parse_rules`). Pages are from the documentation of GitHub ("Comparing commits"), GitLab
("Compare revisions"), Gitea and Forgejo, and Bitbucket.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

from gen.base import regex
from gen.base.codes.overlays import REFUSED_TREE
from gen.base.codes.pins import MISSING_COMMIT, REMOTE_LOGIN, REMOTE_UNREACHABLE
from gen.job.names import is_git_url
from gen.job.scalars import shown
from gen.pins.http import RemoteError
from gen.pins.lock import COMMIT

_ORDER: Final = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
_SETTINGS: Final = (
    *("-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "credential.interactive=false"),
    *("-c", "fetch.unpackLimit=1"),  # one file; its size has a limit
)
_SHA1_DIGITS: Final = 40
_PEELED: Final = "^{}"
_TAGS: Final = "refs/tags/"
_VERSION: Final = regex(r"(?P<start>(?:[A-Za-z0-9_./-]*[A-Za-z_/-])?)(?P<numbers>[0-9]{1,9}(?:\.[0-9]{1,9}){0,3})")
_FORBIDDEN: Final = frozenset("*?[\\ ~^:")
"""Characters that no ref has (`git check-ref-format`); some are patterns for `git ls-remote`."""
_UNKNOWN_COMMIT: Final = ("not our ref", "unadvertised object", "couldn't find remote ref", "no such remote ref")
MOST_FETCHED: Final = 256 << 20
"""Of a commit with all its files, compressed."""
_TOO_LARGE: Final = ("file too large", "invalid index-pack output", f"died of signal {signal.SIGXFSZ.value}")
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


class Ref(Struct, frozen=True):
    """The present commit of a branch or a tag."""

    name: str
    """Such as `refs/tags/v1`."""
    commit: str

    @property
    def is_tag(self) -> bool:
        return self.name.startswith(_TAGS)


def commit_of(url: str, ref: str, seconds: float) -> str:
    """The commit of a branch or a tag. RemoteError if there is none."""
    return find_ref(url, ref, seconds, "code.ref").commit


def find_ref(url: str, ref: str, seconds: float, field: str) -> Ref:
    """A branch or a tag, which a field names. RemoteError if there is none."""
    if set(ref) & _FORBIDDEN or ref.startswith("-"):
        raise _no_ref(url, ref, f"correct `{field}`")
    names = [form.format(ref) for form in _ORDER]
    listed = _listed(url, [pattern for name in names for pattern in (name, name + _PEELED)], seconds)
    for name in names:
        commit = listed.get(name + _PEELED) or listed.get(name)
        if commit is not None and COMMIT.fullmatch(commit):
            return Ref(name, commit)
    raise _no_ref(url, ref, f"correct `{field}`; an abbreviated commit hash must be written in full")


def _listed(url: str, patterns: Sequence[str], seconds: float) -> dict[str, str]:
    """Commits by the full names of refs."""
    done = _git(("ls-remote", "--quiet", "--", url, *patterns), url, seconds)
    if done.returncode != 0:
        raise _refusal(url, done)
    lines = (line.partition("\t") for line in done.stdout.decode("utf-8", "replace").splitlines())
    return {name: commit for commit, _, name in lines}


def newest_version(url: str, ref: str, seconds: float) -> str:
    """The tag with the highest version, of the form of a tag such as `v1.4.0`; the tag itself if it has no version."""
    return highest_version(
        ref, lambda: (name.removeprefix(_TAGS).removesuffix(_PEELED) for name in _listed(url, [f"{_TAGS}*"], seconds))
    )


def highest_version(ref: str, tags: Callable[[], Iterable[str]]) -> str:
    """The highest version among the tags that has the form of `ref`."""
    match = _VERSION.fullmatch(ref)
    if match is None:
        return ref
    versions = [one for tag in (ref, *tags()) if (one := _VERSION.fullmatch(tag)) and one["start"] == match["start"]]
    return max(versions, key=lambda one: [int(part) for part in one["numbers"].split(".")])[0]


class File(Struct, frozen=True):
    """An entry of a tree."""

    mode: str
    object: str
    size: int

    @property
    def is_regular(self) -> bool:
        """Neither a link nor a submodule."""
        return self.mode in {"100644", "100755", "100664"}


class Commit(Struct, frozen=True):
    """A commit in a folder of this machine."""

    url: str
    commit: str
    folder: str
    seconds: float

    def files(self, path: str) -> dict[str, File]:
        """All entries below a folder, by path."""
        done = self._git("ls-tree", "-r", "-l", "-z", "--full-tree", self.commit, "--", f"{path}/")
        found = {}
        for line in done.stdout.split(b"\0")[:-1]:
            facts, _, name = line.partition(b"\t")
            mode, _, name_of_object, size = facts.decode().split()
            found[os.fsdecode(name)] = File(mode, name_of_object, int(size) if size.isdigit() else 0)
        return found

    def read(self, file: File) -> bytes:
        return self._git("cat-file", "blob", file.object).stdout

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        done = _git(("-C", self.folder, *arguments), self.url, self.seconds)
        if done.returncode != 0:
            raise _refusal(self.url, done)
        return done


@contextmanager
def fetched(url: str, commit: str, seconds: float) -> Iterator[Commit]:
    """A commit with its files. RemoteError if the server does not give it."""
    with _fetched(url, commit, seconds, "gen vendor") as folder:
        yield Commit(url, commit, folder, seconds)


def require_commit(url: str, commit: str, seconds: float) -> None:
    """RemoteError if the server does not give the commit to those who fetch it."""
    with _fetched(url, commit, seconds, "gen pin", "--filter=tree:0"):
        pass


@contextmanager
def _fetched(url: str, commit: str, seconds: float, command: str, *options: str) -> Iterator[str]:
    """A folder with a commit."""
    with tempfile.TemporaryDirectory(prefix="gen-pin-") as folder:
        form = "sha256" if len(commit) > _SHA1_DIGITS else "sha1"
        made = _git(("init", "--quiet", "--bare", f"--object-format={form}", folder), url, seconds)
        fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", *options, "--", url, commit)
        done = _git(("-C", folder, *fetch), url, seconds, MOST_FETCHED) if made.returncode == 0 else made
        said = done.stderr.decode("utf-8", "replace").lower()
        if done.returncode != 0 and any(phrase in said for phrase in _TOO_LARGE):
            message = f"`{shown_url(url)}` has more than {MOST_FETCHED >> 20} MiB at commit `{commit}`"
            raise RemoteError(REFUSED_TREE, message, "move large files out of the repository")
        if done.returncode != 0 and any(phrase in said for phrase in _UNKNOWN_COMMIT):
            raise RemoteError(
                MISSING_COMMIT, f"`{shown_url(url)}` has no commit `{commit}`", f"push it, or run `{command} --update`"
            )
        if done.returncode != 0:
            raise _refusal(url, done)
        yield folder


def _git(
    arguments: tuple[str, ...], url: str, seconds: float, most: int | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run Git outside of any repository, without prompts, and end it with its children after the limit of time.

    `most` is the size of a file that it may write, where the system can limit it.
    """
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
        if most is not None and hasattr(resource, "prlimit"):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, most))  # before it has asked the server
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
            MISSING_COMMIT, f"the Git repository `{shown_url(url)}` does not exist", f"correct its URL; {check}"
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
