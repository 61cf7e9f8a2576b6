"""Ours and a real server's verdicts over thousands of changed objects of all kinds: they are to agree both ways.

`AGREEMENT_SEED` chooses other changes, and `AGREEMENT_CASES` how many of each kind.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from gen.kubernetes.schemas.lookup import Definitions, Kinds
from tests.e2e.agreement import Case, Verdicts, accidental, bases, judged, systematic
from tests.kubernetes.rules.support import FILES
from tests.support import SHARED

if TYPE_CHECKING:
    from tests.e2e.cluster import Cluster

SEED = int(os.environ.get("AGREEMENT_SEED", "20261120"))
EACH = int(os.environ.get("AGREEMENT_CASES", "150"))
VERSION = "1.34"
ENGINES = ("argoproj.io", "kustomize.toolkit.fluxcd.io", "source.toolkit.fluxcd.io")
"""Groups with schemas that cover only rendered fields."""
LEAST = 0.998
MOST = 0.001


@pytest.fixture(scope="module")
def verdicts(cluster: Cluster) -> list[Verdicts]:
    ours = Kinds(VERSION)
    defined = Kinds(VERSION, Definitions((SHARED / "crds",)))
    found = []
    for kinds, names in ((ours, ("kubernetes.yaml", "large.yaml")), (defined, ("operators.yaml",))):
        for name in names:
            for number, body in enumerate(bases(name)):
                found += judged(list(systematic(kinds, body, EACH, SEED + number)), cluster, kinds)
    whole = Kinds(VERSION, Definitions(tuple(SHARED / "crds" / group for group in ENGINES)))
    return found + judged(list(accidental(EACH * 10, SEED)), cluster, whole)


def test_bases_are_accepted_by_both(cluster: Cluster) -> None:
    defined = Kinds(VERSION, Definitions((SHARED / "crds",)))
    for name in FILES:
        for body in bases(name):
            (verdict,) = judged([Case("unchanged", body)], cluster, defined)
            assert (str(verdict.case), verdict.server, verdict.ours) == (str(verdict.case), "", ())


def test_verdicts_agree(verdicts: list[Verdicts], capsys: pytest.CaptureFixture[str]) -> None:
    refused = [verdict for verdict in verdicts if verdict.server]
    accepted = [verdict for verdict in verdicts if not verdict.server]
    missed = [verdict for verdict in refused if verdict.missed]
    wrong = [verdict for verdict in accepted if verdict.wrong]
    share, fault = 1 - len(missed) / len(refused), len(wrong) / len(accepted)
    with capsys.disabled():
        print(f"\nseed {SEED}: {len(verdicts)} changed objects")
        print(f"the server refused {len(refused)}, we refused {share:.2%} of them")
        print(f"the server accepted {len(accepted)}, we refused {fault:.2%} of them")
        for kind, count in Counter(str(verdict.case.body.get("kind")) for verdict in (*missed, *wrong)).most_common():
            print(f"  {count:4} {kind}")
        for verdict in (*missed, *wrong):
            print(f"  {verdict}")
    assert len(verdicts) >= 5000
    assert share >= LEAST
    assert fault <= MOST
