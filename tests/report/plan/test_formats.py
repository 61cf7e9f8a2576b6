"""Text, Markdown and JSON of a plan contain the same facts, and text from jobs has no effect in them."""

from __future__ import annotations

import json
import re

import pytest

from gen.render.rendered_object import ObjectKey, RenderedObject
from gen.report.diff import GroupView, fold_roles
from gen.report.escaping import code_span, diff_block, table_cell
from gen.report.formats import PLAN_REPORTERS, Planned
from gen.report.plan.markdown import MAX_LENGTH
from gen.report.templates import Phrase
from gen.review.field_changes import FieldChange, field_changes
from tests.cases import for_each
from tests.history import JOB, History, branch
from tests.support import OVERLAY

HOSTILE = (
    "@everyone <img src=x onerror=alert(1)> [x](javascript:alert(1)) **b** </details> | `tick` ``` "
    "https://evil.example.com www.evil.example.com ##[error]no $(id) &lt;"
)
ACTING = ("\x1b[31m", "\u202e", "\u2066", "\u200b", "\x07", "\u2028")


@pytest.mark.slow
def test_all_formats_contain_the_same_facts(history: History) -> None:
    for name in ("a", "b"):
        history.job(JOB, name=name)
    branch(history)
    history.job(JOB, name="c")
    history.job(JOB.replace("train:1", "train:2"), name="a")
    (history.root / "jobs/team/b.yaml").unlink()
    report = history.report()
    runs = report["summary"]["runs"]
    assert (runs["started"], runs["stopped"], runs["kept"]) == (2, 2, 0)
    for reporter in (PLAN_REPORTERS[form] for form in PLAN_REPORTERS.keys() - {"github", "junit"}):  # of findings
        assert all(run["name"] in reporter(Planned(data=history.plan())) for run in report["runs"])
    for form in ("text", "markdown"):
        text = history.report(form)
        assert "2 runs start (6 pods, 48 GPUs), 2 runs stop (1 replaced, 1 removed), no data is lost" in text
        assert "starting runs request 48 GPUs, at most 576 GPU-hours" in text
        for run in report["runs"]:
            assert run["name"] in text
        assert "containers[pytorch].image: registry.example.com/train:1" in text
    assert history.report() == report
    assert report["base"] == {"ref": "main", "commit": history.git("rev-parse", "main")}


def test_a_run_that_starts_again_without_a_difference_has_the_reason(history: History) -> None:
    history.job(JOB)
    branch(history)
    history.job(JOB + "attempt: 2\n")
    for form in ("text", "markdown", "html"):
        text = history.report(form)
        assert text.count("the same fields: its job has another") == 1


def test_the_most_expensive_run_is_the_first_in_each_section(history: History) -> None:
    prices = "currency: EUR\naccelerators: {h100: {nvidia: H100, price: 9}, a10: {nvidia: A10, price: 1}}\n"
    history.overlay(OVERLAY + prices)
    history.job(JOB + "accelerator: a10\n", name="old")
    branch(history)
    for name, workers, accelerator in (("a", 3, "a10"), ("b", 1, "a10"), ("c", 2, "h100")):
        history.job(f"{JOB.replace('workers: 3', f'workers: {workers}')}accelerator: {accelerator}\n", name=name)
    for form, run in (("text", r"  team/([abc])-\w{8} "), ("markdown", r"\| `team/([abc])-\w{8}`")):
        assert re.findall(run, history.report(form)) == ["c", "a", "b"]


def test_a_raised_quota_is_a_sentence(history: History) -> None:
    history.overlay(OVERLAY.replace("namespaces:\n", "namespaces:\n  team: {gpus: 64}\n"))
    history.job(JOB)
    branch(history)
    history.overlay(OVERLAY.replace("namespaces:\n", "namespaces:\n  team: {gpus: 128}\n"))
    said = "changes `namespaces.team.gpus` from `64` to `128`"
    for form in ("text", "markdown"):
        assert f"`overlays/dev/overlay.yaml` {said}" in history.report(form)
    history.git("checkout", "--", "overlays")
    assert said not in history.report("text")


def test_grants_of_groups_and_of_a_new_overlay_are_sentences(history: History) -> None:
    history.overlay(OVERLAY + "groups: {research: {namespaces: [vision], gpus: 8}}\n")
    history.job(JOB)
    branch(history)
    history.overlay(OVERLAY + "groups: {research: {namespaces: [vision, speech], gpus: 64}}\n")
    many = "".join(f"  other-{number}: {{gpus: 8}}\n" for number in range(9))
    new = 'kubernetes: "1.34"\nnamespaces:\n  team: {gpus: 64, allow: [hostNetwork]}\n'
    path = history.overlay(f"{new}{many}", name="new")
    shown = history.report("markdown")
    for said in (
        "dev/overlay.yaml` changes `groups.research.gpus` from `8` to `64`",
        "dev/overlay.yaml` adds `speech` to `groups.research.namespaces`",
        "new/overlay.yaml` adds `namespaces.team: {gpus: 64, allow: [hostNetwork]}`",
        "new/overlay.yaml` adds `namespaces.other-5: {gpus: 8}`",
        "new/overlay.yaml` changes 3 more grants",
    ):
        assert f"`overlays/{said}" in shown
    assert "other-6" not in shown
    path.write_text(f"{new}extends: dev\n")
    assert "`overlays/new/overlay.yaml` adds `extends: dev`" in history.report("text")


def test_limits_of_accelerators_are_limits(history: History) -> None:
    grant = '  "*":\n    accelerators: {h100: 64, a10: 8}\n'
    history.overlay(OVERLAY.replace('  "*":\n', grant) + "accelerators: {h100: {nvidia: H100}, a10: {nvidia: A10}}\n")
    history.job(JOB + "accelerator: h100\n")
    branch(history)
    history.job(JOB.replace("workers: 3", "workers: 4") + "accelerator: h100\n")
    (row,) = (line for line in history.report("text").splitlines() if line.startswith("  dev      team"))
    assert "  24 → 32  32 of 64 h100  " in row


@pytest.mark.slow
def test_equal_differences_are_printed_once(history: History) -> None:
    for number in range(60):
        history.job(JOB, name=f"j{number:02}")
    branch(history)
    for number in range(60):
        history.job(JOB.replace("train:1", "train:2"), name=f"j{number:02}")
    text = history.report("text")
    assert text.count("+ spec.pytorchReplicaSpecs.{Master,Worker}.template.spec.containers[pytorch].image") == 1
    assert text.count("… and 20 more") == 2
    assert len(history.report()["objects"]) == 60


def test_objects_of_added_and_removed_runs_are_not_listed_again(history: History) -> None:
    job = JOB.replace("pytorch", "batch") + "files: {/etc/a: b}\ndata: {nas: /data}\ntensorboard: {logdir: /data}\n"
    history.job(job, name="edited")
    history.job(job, name="leaves")
    branch(history)
    history.job(job + "attempt: 2\n", name="edited")
    (history.root / "jobs/team/leaves.yaml").unlink()
    history.job(job, name="comes", namespace="other")
    text = history.report("text")
    titles = [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == [
        "changes:",
        "runs that replace the previous run of their job (1):",
        "runs that start (1):",
        "runs that stop (1):",
        "data:",
        "changed GPU usage of active runs:",
        "replaced Job:",
        "removed Deployment:",
        "removed Service:",
        "added Deployment:",
        "added Service:",
    ]
    assert "leaves-tensorboard" in text
    assert re.search(r"(?m)^ .*-files", text) is None


def test_a_comment_starts_with_the_marker_and_the_summary(history: History) -> None:
    history.job(JOB)
    branch(history)
    empty = history.report("markdown").splitlines()
    history.job(JOB.replace("train:1", "train:2"))
    full = history.report("markdown").splitlines()
    assert empty[0] == full[0] == "<!-- gen plan -->"
    assert full[3].startswith("1. `demo` changes `image` from ")
    assert full[5:8] == [
        "| | | |",
        "|---|---|---|",
        "| Runs | 1 start, 1 stop | starts: 1 replacing another; stops: 1 replaced |",
    ]
    text = "\n".join(full)
    assert text.count("<details>") == text.count("</details>") > 0
    assert text.index("| Runs |") < text.index("<details>")


def test_errors_stand_above_the_tables_of_a_comment(history: History) -> None:
    priced = OVERLAY + "currency: EUR\naccelerators: {h100: {nvidia: H100, price: 2.5}}\n"
    history.overlay(priced)
    branch(history)
    history.overlay(priced.replace('  "*":\n', '  "*":\n    budget: 1\n'))
    history.job(JOB + "accelerator: h100\n")
    lines = [line for line in history.report("markdown").splitlines() if line]
    assert lines[1].startswith("### Refused: `over-budget`; 1 run starts ")
    assert lines[2].startswith("- `over-budget` at `overlays/dev/overlay.yaml:")
    assert lines[3] == "**Also changes:** `overlays/dev/overlay.yaml`"
    assert lines[4].startswith("1. `demo` is new: +24 GPUs")


@pytest.mark.slow  # hundreds of runs
def test_a_long_comment_is_cut_and_counts_the_omitted_entries(history: History) -> None:
    history.job(JOB, name="stays")
    branch(history)
    for number in range(300):
        history.job(JOB + f"env: {{A: '{number}'}}\nfiles: {{/a: '{'x' * 300}{number}'}}\n", name=f"{'j' * 30}{number}")
    history.commit("many")
    for number in range(300):
        history.job(JOB + f"env: {{A: '{number + 1}'}}\n", name=f"{'j' * 30}{number}")
    whole, cut = history.report("markdown"), history.report("markdown", base="HEAD")
    for comment in (whole, cut):
        assert comment.count("<details>") == comment.count("</details>")
        assert comment.count("```") % 2 == 0
    assert "Omitted" not in whole
    assert MAX_LENGTH * 0.9 < len(cut) <= MAX_LENGTH < 65_536
    left_out = re.search(r"(?m)^Omitted .*: (\d+) of Runs.*; (\d+) of Differences \(300\)\. Run `gen plan`", cut)
    assert left_out is not None
    assert int(left_out[1]) + cut.count("| replaces `") == 300
    assert int(left_out[2]) + len(re.findall("(?m)^replaced ", cut)) == 300
    assert len(history.report(base="HEAD")["runs"]) == 300


@pytest.mark.parametrize("place", ["env", "files", "command", "annotations"])
def test_text_from_a_job_has_no_effect_in_a_plan(history: History, place: str) -> None:
    history.overlay(OVERLAY)
    history.job(JOB)
    branch(history)
    value = HOSTILE + "".join(ACTING)
    quoted = json.dumps(value)
    lines = json.dumps(f"::error::no\n{value}\n  ::add-mask::x\n```\n</details>\n")
    more = {
        "env": f"env: {{A: {quoted}, B: {lines}}}\n",
        "files": f"files: {{/a: {lines}}}\n",
        "command": "",
        "annotations": f"annotations: {{example.com/a: {quoted}}}\n",
    }[place]
    job = JOB.replace("command: python train.py", f"command: [python, {lines}]") if place == "command" else JOB
    history.job(job + more)
    text, comment = history.report("text"), history.report("markdown")
    for said in (text, comment):
        assert [word for word in ACTING if word in said] == []
        assert [line for line in said.splitlines() if line.lstrip().startswith("::")] == []
        assert "##[" not in said
    outside = re.sub(r"(?s)^(`{3,})diff\n.*?^\1$", "", comment, flags=re.MULTILINE)
    outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", outside)
    assert [word for word in ("@", "<img", "javascript", "evil", "**b**", "$(id)") if word in outside] == []
    assert outside.count("<details>") == outside.count("</details>")


@for_each("text", ["", "`", "a`b", "``", "`a", "a`", "a``b```c", "|", "a|b`", "\n\n# x", " x "])
def test_the_content_of_a_code_span_cannot_end_it(text: str) -> None:
    span = code_span(text)
    fence = re.match("`+", span)
    assert fence is not None
    inner = span[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall("`+", inner)
    assert "\n" not in span
    assert inner.strip()
    assert "|" not in table_cell(text).replace("\\|", "")


def test_the_content_of_a_code_block_cannot_end_it() -> None:
    lines = diff_block(["+ ````", "+ x"]).splitlines()
    assert (lines[0], lines[-1]) == ("`````diff", "`````")


def test_a_long_value_is_cut_to_the_part_that_differs(history: History) -> None:
    long = JOB.replace("python train.py", "python train.py " + "--flag x " * 60 + "--lr 1")
    history.job(long)
    branch(history)
    history.job(long.replace("--lr 1", "--lr 2"))
    text = history.report("text")
    assert re.search(r'- spec\S+command\[2\]: "….{0,30}--lr 1"\n', text)
    assert re.search(r'\+ spec\S+command\[2\]: "….{0,30}--lr 2"\n', text)


def test_a_long_difference_shows_both_of_its_ends(history: History) -> None:
    """A value cut at 200 characters hid its end."""
    flags = " ".join(f"--flag{number}" for number in range(100))
    start = JOB.replace("python train.py", f"python train.py --a 1 {flags} --z 1")
    history.job(start + f"annotations: {{example.com/list: '{flags}', example.com/same: a}}\n")
    branch(history)
    other = flags.replace("flag", "switch")
    changed = JOB.replace("python train.py", f"python train.py --a 2 {other} --steal secret")
    history.job(changed + f"annotations: {{example.com/list: '{other} evil', example.com/same: a}}\n")
    for form in ("text", "markdown"):
        text = history.report(form)
        command = next(line for line in text.splitlines() if "+ spec" in line and "command[2]" in line)
        assert "--a 2" in command
        assert "--steal secret" in command
        assert re.search(r"…\d+ characters…", command)
        assert len(command) < 450


def test_a_long_new_value_shows_both_of_its_ends() -> None:
    value = {f"key{number}": "x" * 10 for number in range(50)} | {"last": "evil"}
    group = GroupView(
        action=Phrase("changed"), kind="Pod", names=(), fields=(FieldChange((".spec",), {"first": 1}, value),)
    )
    assert "key0" in group.lines[1]
    assert 'evil"}' in group.lines[1]


def test_long_lines_of_a_text_show_their_difference() -> None:
    same = "x" * 300
    old, new = f"a\n{same} 1 {same}\nb\n", f"a\n{same} 2 {same}\nb\n"
    group = GroupView(action=Phrase("changed"), kind="Pod", names=(), fields=(FieldChange((".data",), old, new),))
    removed, added = (next(line for line in group.lines if line.startswith(f"{sign} ")) for sign in "-+")
    assert " 1 " in removed
    assert " 2 " in added
    ends = GroupView(
        action=Phrase("changed"), kind="Pod", names=(), fields=(FieldChange((".data",), "a\n", f"a\n{same}evil\n"),)
    )
    assert any(line.endswith("evil") for line in ends.lines)


@for_each(
    ("old", "new", "expected"),
    [
        ([{"a": 1}, {"a": 1}], [{"a": 2}, {"a": 2}], ["spec[{0,1}].a"]),
        ({"x": {"a": 1}, "y": {"a": 1}}, {"x": {"a": 2}, "y": {"a": 2}}, ["spec.{x,y}.a"]),
        ({"x": {"a": 1}, "y": {"b": 1}}, {"x": {"a": 2}, "y": {"b": 2}}, ["spec.x.a", "spec.y.b"]),
        (
            {"x": {"a": 1, "b": 1}, "y": {"a": 1, "b": 1}},
            {"x": {"a": 2, "b": 2}, "y": {"a": 2, "b": 2}},
            ["spec.{x,y}.{a,b}"],
        ),
        (
            {"x": {"a": 1, "b": 1}, "y": {"a": 1, "b": 3}},
            {"x": {"a": 2, "b": 2}, "y": {"a": 2, "b": 4}},
            ["spec.x.a", "spec.x.b", "spec.y.a", "spec.y.b"],
        ),
        ({"x": {"a": 1}, "y": {"a": 1}}, {"x": {"a": 2}, "y": {"a": 3}}, ["spec.x.a", "spec.y.a"]),
    ],
)
def test_equal_changes_of_several_roles_are_merged(old: object, new: object, expected: list[str]) -> None:
    key = ObjectKey("dev", "", "Pod", "team", "a")
    changes = field_changes(RenderedObject(key, "", "", {"spec": old}), RenderedObject(key, "", "", {"spec": new}))
    assert [change.path for change in fold_roles(changes)] == expected


def test_multi_line_texts_are_compared_by_line(history: History) -> None:
    lines = "".join(f"line {number}\\n" for number in range(50))
    history.job(JOB + f'files: {{/etc/a: "{lines}"}}\n')
    branch(history)
    history.job(JOB + f'files: {{/etc/a: "{lines.replace("line 25", "LINE 25")}"}}\n')
    text = history.report("text")
    assert "    -   line 25" in text
    assert "    +   LINE 25" in text
    assert "line 40" not in text
