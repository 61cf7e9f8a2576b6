"""Addresses of commits and files on the web: `<web>/commit/<commit>` and `<web>/blob/<commit>/<path>`.

GitHub, Forgejo and GitLab have these paths; those of GitLab begin with `/-` after the name of the project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import Struct

from gen.diagnostics import UsageError
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

_WEB = regex(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/[A-Za-z0-9_.~%+-]+)+")
_COMMIT = regex(r"[0-9a-f]{7,64}")


class Links(Struct, frozen=True):
    """The repository on the web."""

    web: str
    prefix: str
    """Path of the repository of jobs within the Git repository; empty, or ending with `/`."""
    head: str
    """The commit of the work tree."""

    def commit(self, commit: str) -> str:
        return f"{self.web}/commit/{commit}"

    def file(self, path: str, line: int = 0) -> str:
        return f"{self.web}/blob/{self.head}/{quote(self.prefix + path)}{f'#L{line}' if line else ''}"


def links_to(web: str | None, head: str, prefix: str, environment: Mapping[str, str]) -> Links | None:
    """Links to `web`, or to the repository whose CI this is. UsageError for an address or a commit of another form."""
    address = web if web is not None else _of_ci(environment)
    if web is not None and _WEB.fullmatch(web) is None:
        raise UsageError(f"`--web {web}` is not a valid address; use a form like `https://github.com/example/jobs`")
    if _COMMIT.fullmatch(head) is None:
        raise UsageError(f"`--commit {head}` is not a valid commit; use its digits, as `git rev-parse` prints them")
    return Links(address.rstrip("/"), prefix, head) if address and _WEB.fullmatch(address) else None


def _of_ci(environment: Mapping[str, str]) -> str:
    """The address that GitHub Actions, Forgejo Actions or GitLab CI sets."""
    if project := environment.get("CI_PROJECT_URL"):
        return f"{project}/-"
    server, repository = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    return f"{server}/{repository}" if server and repository else ""
