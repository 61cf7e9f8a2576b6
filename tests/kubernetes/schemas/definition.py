"""CustomResourceDefinitions for tests."""

from __future__ import annotations

from textwrap import dedent, indent

_HEAD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.{group}}}
spec:
  group: {group}
  scope: Namespaced
  names: {{kind: {kind}, plural: {plural}}}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
"""


def definition(group: str, kind: str, spec: str = "", more: str = "") -> str:
    """The definition of a kind; `spec` is the schema of its field `spec`, `more` other versions, both as YAML."""
    text = _HEAD.format(group=group, kind=kind, plural=f"{kind.lower()}s")
    if spec:
        text += "          properties:\n            spec:\n" + indent(dedent(spec), " " * 14)
    return text + indent(dedent(more), " " * 4)
