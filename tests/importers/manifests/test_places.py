"""Findings stand at their own line."""

from __future__ import annotations

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportInput
from gen.importers.overlay_needs import fragment
from gen.importers.proof import NAME, overlay_text, prove, report_proof
from tests.cases import for_each
from tests.support import PROJECT

HEAD = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: run
spec:
  replicatedJobs:
"""
WORKERS = """\
    - name: workers
      template:
        spec:
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              schedulingGroup:
                podGroupName: run
              containers:
                - name: main
                  image: r/x:1
                  command: [x]
                  ports:
                    - containerPort: 80
                    - name: http
                      containerPort: 8080
"""


def test_findings_of_values_in_templates() -> None:
    found = Findings()
    given = ImportInput(file="a.yaml", files=(("a.yaml", f"{HEAD}{WORKERS}".encode()),), otherwise="team")
    (job,) = IMPORTERS["manifests"]().read(given, found)
    for one in prove(PROJECT, job, NAME, overlay_text({"kubernetes": "1.34", **fragment([job])}), found):
        report_proof(one, found)
    assert [(one.place.line, one.place.column, one.message.partition(" is ")[0]) for one in found] == [
        (14, 15, "`run`"),
        (22, 23, "the port `http`"),
    ]


@for_each(
    ("text", "message", "line"),
    [
        (f"{HEAD}{WORKERS}{WORKERS}", "two roles have the name `workers`", len(f"{HEAD}{WORKERS}".splitlines()) + 1),
        (HEAD.removesuffix("  replicatedJobs:\n"), "`spec` is empty", 5),
    ],
)
def test_errors_of_objects(text: str, message: str, line: int) -> None:
    found = Findings()
    given = ImportInput(file="a.yaml", files=(("a.yaml", text.encode()),), otherwise="team")
    IMPORTERS["manifests"]().read(given, found)
    assert (message, line) in [(one.message, one.place.line) for one in found]
