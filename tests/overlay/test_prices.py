"""Currencies and prices of overlays that inherit them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support import Repository

BASE = 'abstract: true\nkubernetes: "1.34"\ncurrency: EUR\nnamespaces: {team: {}}\n'


def test_an_overlay_without_prices_inherits_the_currency_of_others(repo: Repository) -> None:
    repo.overlay(BASE, name="base")
    repo.overlay("extends: base\ngpu: {price: 2}\n", name="cloud")
    repo.overlay("extends: base\n", name="own")
    assert repo.codes() == []
    repo.overlay("extends: base\ncurrency: EUR\n", name="own")
    assert repo.codes() == ["no-effect"]
