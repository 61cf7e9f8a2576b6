"""Texts with a format in custom resources: gen accepts what a server accepts."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import yaml

from gen.kubernetes.formats import FORMATS
from tests.kubernetes.schemas.definition import definition
from tests.kubernetes.test_formats import TEXTS

if TYPE_CHECKING:
    from tests.e2e.cluster import Cluster

CASES = 100
"""For each format."""
_CHARACTERS = "aA0.:-/@%[]<>\"\\ ()?#,;_zZ9\u00b5\u00e4\t+~{}|^`'!$&*="


def texts(name: str, chance: random.Random) -> list[str]:
    """The texts of the table, and random changes of them."""
    known = [text for part in TEXTS[name] for text in part]
    return [*known, *(changed(chance.choice(known), chance) for _ in range(CASES))]


def changed(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 3)):
        place = chance.randint(0, len(text))
        text = text[:place] + chance.choice(("", chance.choice(_CHARACTERS))) + text[place + chance.randint(0, 1) :]
    return text


def test_formats_are_those_of_a_server(cluster: Cluster) -> None:
    fields = "".join(f"  {name}: {{type: string, format: {name}}}\n" for name in FORMATS)
    schema = f"type: object\nproperties:\n{fields}"
    cluster.install([yaml.safe_load(definition("formats.example.com", "Formatted", schema))])
    cluster.add_namespaces(["formats"])
    chance, different = random.Random(1), []  # noqa: S311
    for name, accepts in FORMATS.items():
        for text in texts(name, chance):
            body = {
                "apiVersion": "formats.example.com/v1",
                "kind": "Formatted",
                "metadata": {"name": "a", "namespace": "formats"},
                "spec": {name: text},
            }
            response = cluster.try_to_create(body)
            if (response.status == 201) is not accepts(text):
                different.append((name, text, response.status, response.message))
    assert different == []
