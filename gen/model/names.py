"""The names, references and paths a user may write, each as Kubernetes will take it."""

from __future__ import annotations

import re
from typing import Annotated

from gen.kubernetes import with_hash
from gen.model.scalars import matching, schema

DNS_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_DNS_LABEL = re.compile(DNS_LABEL)
JOB_NAME = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?")
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
LABEL_KEY = r"(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
ENV_NAME = r"(?!\.\.|\.$)[A-Za-z_.-][A-Za-z0-9_.-]*"
LABEL_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"
_IMAGE = re.compile(
    r"(?:[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]+:[0-9a-fA-F]{32,})?"
)
_MAX_IMAGE = 512

Label = Annotated[
    str,
    matching(
        _DNS_LABEL,
        63,
        "a name of at most 63 lower-case letters, digits and `-`",
        "start and end it with a letter or a digit",
    ),
    schema("name", "string", pattern=rf"^{_DNS_LABEL.pattern}$|\{{\{{", maxLength=63),
]
JobName = Annotated[
    str,
    matching(
        JOB_NAME,
        63,
        "a name of at most 63 lower-case letters, digits and `-`, with a letter first",
        "start it with a letter; Services are named after the job",
    ),
    schema("name", "string", pattern=f"^{JOB_NAME.pattern}$", maxLength=63),
]
ObjectName = Annotated[
    str,
    matching(_DNS_SUBDOMAIN, 253, "a Kubernetes name of lower-case letters, digits, `-` and `.`"),
    schema("name of an object", "string"),
]
ConfigKey = Annotated[
    str,
    matching(re.compile(r"(?!\.\.)(?!\.$)[-._A-Za-z0-9]+"), 253, "an entry of a Secret or ConfigMap", "name the entry"),
    schema("entry", "string", "number", "boolean"),
]
LabelKey = Annotated[
    str,
    matching(re.compile(LABEL_KEY), 317, "the key of a label", "write it like `team` or `example.com/team`"),
    schema("key of a label", "string"),
]
EnvName = Annotated[
    str,
    matching(
        re.compile(ENV_NAME),
        253,
        "the name of a variable",
        "use letters, digits, `_`, `-` and `.`, with no digit and no `..` first",
    ),
    schema("name of a variable", "string"),
]
ResourceName = Annotated[
    str,
    matching(re.compile(r"(?=.*/)" + LABEL_KEY), 317, "the name of a resource", "write it like `nvidia.com/gpu`"),
    schema("name of a resource", "string"),
]
LabelValue = Annotated[
    str,
    matching(re.compile(LABEL_VALUE), 63, "the value of a label", "use at most 63 letters, digits, `-`, `_` and `.`"),
    schema("value of a label", "string", "number", "boolean"),
]
PodField = Annotated[
    str,
    matching(
        re.compile(
            r"metadata\.(name|namespace|uid|(labels|annotations)\['" + LABEL_KEY + r"'\])"
            r"|spec\.(nodeName|serviceAccountName)|status\.(hostIP|hostIPs|podIP|podIPs)"
        ),
        400,
        "a field that a container can be told",
        "write it like `metadata.name`, `metadata.labels['app']`, `spec.nodeName` or `status.podIP`",
    ),
    schema("field of the pod", "string"),
]
ContainerResource = Annotated[
    str,
    matching(
        re.compile(r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMG]i)"),
        64,
        "a resource that a container can be told",
        "write it like `limits.cpu` or `requests.memory`",
    ),
    schema("resource of the container", "string"),
]


def is_image(text: str) -> bool:
    """Whether a text is an image reference."""
    return len(judged := with_hash(text)) <= _MAX_IMAGE and _IMAGE.fullmatch(judged) is not None


ImageRef = Annotated[
    str,
    matching(_IMAGE, _MAX_IMAGE, "an image reference", "write it like `registry.example.com/team/train:1.2`"),
    schema("image", "string"),
]
ImageStart = Annotated[
    str,
    matching(
        re.compile(r"(?!.*//)(?:[A-Za-z0-9][-A-Za-z0-9._:/]*)?"),
        256,
        "the start of an image reference",
        "write it like `registry.example.com/mirror/`, without `https://`",
    ),
    schema("start of an image", "string"),
]
PATH = r"/(?!\.\.(?:/|$))[^\x00-\x1f/:]*"
"""A slash and what follows it in a path that cannot lead out of where it begins; repeat it for all of a path."""
MountPath = Annotated[
    str,
    matching(
        re.compile(rf"(?:{PATH})+"),
        4096,
        "an absolute path without `:` and `..`",
        "start it with `/`, and name the place itself",
    ),
    schema("absolute path", "string", pattern=r"^/|\{\{"),
]
