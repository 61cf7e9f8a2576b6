"""Pages of Git servers that compare two commits.

Sources: the documentation of GitHub ("Comparing commits"), GitLab ("Compare revisions"), Gitea and Forgejo, Bitbucket.
"""

from __future__ import annotations

from typing import Final

from gen.regex import regex

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
