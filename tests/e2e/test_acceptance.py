"""A real API server accepts every rendered object, and every pod that an operator would make of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.objects import PodTemplate, Rendered, all_rendered, pod_templates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Cluster

RENDERED = all_rendered()
TEMPLATES = [template for one in RENDERED for template in pod_templates(one)]


def test_there_is_something_to_accept() -> None:
    assert RENDERED
    assert TEMPLATES


@pytest.mark.parametrize("rendered", RENDERED, ids=str)
def test_the_server_accepts_a_rendered_object(rendered: Rendered, cluster: Cluster) -> None:
    response = cluster.try_to_create_file(rendered.body, rendered.text)
    assert response.status == 201, response.message
    assert response.warnings == ()
    # a GitOps engine sees rewritten values as a lasting difference, but not added values
    assert list(_rewritten(rendered.body, response.body)) == []


# the schemas of training resources have few or no rules for the content of a pod template
@pytest.mark.parametrize("template", TEMPLATES, ids=str)
def test_the_server_accepts_a_pod_of_a_template(template: PodTemplate, cluster: Cluster) -> None:
    response = cluster.try_to_create(template.pod())
    assert response.status == 201, response.message
    assert response.warnings == ()


def _rewritten(sent: Any, kept: Any, route: str = "") -> Iterator[str]:
    """Where the server does not hold what Python reads in the file: another number, another type, nothing."""
    if isinstance(sent, dict) and isinstance(kept, dict):
        for key, value in sent.items():
            # Go leaves out an empty text where it means the same as none
            yield from _rewritten(value, kept.get(key, "" if value == "" else None), f"{route}.{key}")
    elif isinstance(sent, list) and isinstance(kept, list) and len(sent) == len(kept):
        for index, (one, other) in enumerate(zip(sent, kept, strict=True)):
            yield from _rewritten(one, other, f"{route}[{index}]")
    elif sent != kept or type(sent) is not type(kept):
        yield f"{route}: {sent!r} became {kept!r}"
