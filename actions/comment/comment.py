# Written by `python -m scripts.actions`, from gen/templates/init.
"""Post the output of `gen plan` as a pull request comment, and keep it up to date.

comment.yml runs this script from the default branch with a write token. The artifact of the other workflow is untrusted
data: the script reads four members with a size limit, and extracts and runs nothing. The artifact must be about the head
commit of its run, and the pull request must be at this commit, before and after everything else that is read about it. The
plan must be about the merge of this commit into the present head of the base branch, with the tree that the host has for
this merge. If the pull request changes anything but jobs, overlays, rendered files and texts for people, or was proposed for
another base, it could have forged the artifact, so the plan is not posted.
"""

from __future__ import annotations

import io
import json
import os
import re
import urllib.parse
import urllib.request
import zipfile
from typing import Any

API = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}"
WEB = f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}"
RUN = int(os.environ["RUN_ID"])
MARKER = "<!-- gen plan -->"
AUTHOR = "github-actions[bot]"
HEAD_SHA = os.environ["HEAD_SHA"]
FREE = re.compile(r"jobs/[^/]+/.+|rendered/.+")  # the paths that the first lines of a plan do not name
DATA = re.compile(r"overlays/.+|[^/]+\.md|docs/.+\.md")  # those that it names, and that nothing in CI runs
CONTROL = (".gitattributes", ".gitmodules")  # at any level
MAX_PAGES = 30
MAX_COMPARED = 300  # GitHub lists no more files of a comparison
MAX_BYTES = 1 << 20
MAX_CHARACTERS = 65_000  # the limit of GitHub for a comment is 65,536


class WithoutToken(urllib.request.HTTPRedirectHandler):
    """Remove the token from redirects: URLs of artifact storage are signed and must not receive it."""

    def redirect_request(self, *arguments: Any) -> urllib.request.Request | None:
        request = super().redirect_request(*arguments)
        if request is not None:
            request.remove_header("Authorization")
        return request


def call(path: str, data: dict[str, str] | None = None, method: str | None = None) -> bytes:
    headers = {
        "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
        "Accept": "application/vnd.github+json",
        "Content-Type": "application/json",
    }
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(f"{API}/{path}", body, headers, method=method)
    with urllib.request.build_opener(WithoutToken).open(request, timeout=60) as response:
        raw: bytes = response.read(64 * MAX_BYTES)
    return raw


def read(path: str) -> Any:
    return json.loads(call(path))


def pages(path: str, **query: str) -> tuple[list[Any], bool]:
    """The items of a list, and whether these are all."""
    items: list[Any] = []
    for page in range(1, MAX_PAGES + 1):
        found = read(f"{path}?{urllib.parse.urlencode({**query, 'per_page': 100, 'page': page})}")
        items += found
        if len(found) < 100:
            return items, True
    return items, False


def artifact() -> tuple[int, str, str, list[str]] | None:
    """The number of the pull request, the plan, the link to its page, and what was judged: merge, tree, base and head.

    From artifacts about the head commit of the run.
    """
    listed = read(f"actions/runs/{RUN}/artifacts")["artifacts"]
    known = [one for one in listed if one["name"] == "gen-plan" and one["size_in_bytes"] <= MAX_BYTES]
    if not known:
        return None
    with zipfile.ZipFile(io.BytesIO(call(f"actions/artifacts/{int(known[0]['id'])}/zip"))) as archive:
        names = ("number.txt", "head.txt", "plan.md", "merge.txt", "judged.txt")
        number, head, plan, merge, judged = (member(archive, name) for name in names)
    if head.strip() != HEAD_SHA or not re.fullmatch("[0-9]{1,9}", number.strip()):
        return None
    links = [f"{WEB}/actions/runs/{RUN}/artifacts/{int(one['id'])}" for one in listed if one["name"] == "gen-page"]
    return int(number), plan, links[0] if links else "", [*merge.split(), *judged.split()]


def member(archive: zipfile.ZipFile, name: str) -> str:
    """Text of a member; empty if the run failed before it wrote it."""
    if name not in archive.namelist():
        return ""
    with archive.open(name) as stream:
        return stream.read(MAX_BYTES).decode("utf-8", "replace")


def is_checked(pull: dict[str, Any]) -> bool:
    """Whether the pull request is the one of the run, and still at the commit that was checked."""
    head, repository = pull["head"], (pull["head"]["repo"] or {}).get("full_name")
    return bool(
        pull["state"] == "open"
        and pull["base"]["ref"] == os.environ["BASE_BRANCH"]
        and head["sha"] == HEAD_SHA
        and (repository, head["ref"]) == (os.environ["HEAD_REPOSITORY"], os.environ["HEAD_BRANCH"])
    )


def outdated(pull: dict[str, Any], judged: list[str]) -> str:
    """Why a plan is not about the merge of the head into its base branch; empty if it is."""
    if len(judged) != 4 or not all(re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", one) for one in judged):
        return "the run does not say what it judged"
    merge, tree, base, head = judged
    target = read(f"git/ref/heads/{urllib.parse.quote(pull['base']['ref'])}")["object"]["sha"]
    if base != target:
        return f"`{pull['base']['ref']}` moved from {base[:12]} to {target[:12]} since: update the branch, or run the check again"
    known = read(f"git/commits/{merge}")
    if [one["sha"] for one in known["parents"]] != [base, HEAD_SHA] or head != HEAD_SHA or known["tree"]["sha"] != tree:
        return "the judged tree is not the one of the merge"
    return ""


def other_changes(pull: dict[str, Any]) -> list[str]:
    """Changed files that could influence the checks: all but data; those that exist first, then hidden ones.

    Compares commits, so a push in between changes nothing.
    """
    compared = read(f"compare/{pull['base']['sha']}...{HEAD_SHA}")
    files = compared.get("files", [])
    names = {name for file in files for name in (file["filename"], file.get("previous_filename")) if name}
    if len(files) >= MAX_COMPARED:
        before, after = (top_level(commit) for commit in (compared["merge_base_commit"]["sha"], HEAD_SHA))
        names |= {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        names -= {"jobs", "overlays", "rendered"}
    added = {file["filename"] for file in files if file.get("status") == "added"}
    return sorted((name for name in names if not is_data(name)), key=lambda name: (name in added, name[:1] != ".", name))


def is_data(name: str) -> bool:
    control = name.rpartition("/")[2].lower() in CONTROL
    return not control and bool(FREE.fullmatch(name) or DATA.fullmatch(name))


def top_level(commit: str) -> dict[str, str]:
    """Digests of the files and folders at the top of a commit."""
    return {entry["path"]: entry["sha"] for entry in read(f"git/trees/{commit}")["tree"]}


def other_bases(number: int, pull: dict[str, Any]) -> str:
    """Why a run for this branch could have had the checks of another base branch; empty if it could not."""
    events, all_events = pages(f"issues/{number}/events")
    head = f"{pull['head']['repo']['owner']['login']}:{pull['head']['ref']}"
    pulls, all_pulls = pages("pulls", state="all", head=head)
    bases = {one["base"]["ref"] for one in pulls} - {pull["base"]["ref"]}
    if bases or any(event["event"] == "base_ref_changed" for event in events):
        return "this branch was also proposed for another base branch"
    return "" if all_events and all_pulls else "this branch has too many events or pull requests to see its bases"


def body(plan: str, page: str, touched: list[str], reason: str, rebased: str) -> str:
    note = f"Commit {HEAD_SHA}; result of the check: {os.environ['CONCLUSION']}."
    if page and plan and not touched and not rebased and not reason:
        note += f" [Review page]({page}): unpack it, and open `plan.html`."
    if touched:
        more = [f"and {len(touched) - 20} more"] if len(touched) > 20 else []
        # in a code block; a line break in a name would end it
        names = "\n".join("    " + re.sub("[^ -~]", "?", name[:200]) for name in [*touched[:20], *more])
        plan = f"### No plan: this pull request changes files that can change its checks\n\nReview these first:\n\n{names}\n"
    elif rebased:
        plan = f"### No plan: {rebased}\n\nOpen a pull request from a new branch.\n"
    elif reason and plan:
        plan = f"### No plan: {reason}\n"
    plan = plan or "### Refused: the check failed before it had a plan, see its log"
    if len(plan) > MAX_CHARACTERS:
        plan = plan[:MAX_CHARACTERS].rpartition("\n")[0] or plan[:MAX_CHARACTERS]
        plan += "\n\n… truncated; see the summary of the workflow run."
    return f"{MARKER}\n{plan}\n\n<sub>{note}</sub>\n"


def main() -> None:
    if (found := artifact()) is None:
        print("the run has no plan of its head commit")
        return
    number, plan, page, judged = found
    if not is_checked(pull := read(f"pulls/{number}")):
        print(f"pull request {number} is not the one that was checked, or has another commit now")
        return
    reason = outdated(pull, judged) if plan else ""
    text = {"body": body(plan, page, other_changes(pull), reason, other_bases(number, pull))}
    comments = [
        comment
        for comment in pages(f"issues/{number}/comments")[0]
        if comment["user"]["login"] == AUTHOR and comment["body"].startswith(MARKER)
    ]
    if not is_checked(read(f"pulls/{number}")):
        print(f"pull request {number} has another commit now")
    elif comments:
        call(f"issues/comments/{int(comments[0]['id'])}", text, "PATCH")
    else:
        call(f"issues/{number}/comments", text, "POST")


if __name__ == "__main__":
    main()
