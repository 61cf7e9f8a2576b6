"""Types for names, references and paths, as Kubernetes accepts them."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Annotated

from gen.base import regex
from gen.base.placeholders import with_hash
from gen.job.scalars import matching, schema

DNS_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_DNS_LABEL = regex(DNS_LABEL)
JOB_NAME = regex(r"[a-z](?:[-a-z0-9]*[a-z0-9])?")
DNS_SUBDOMAIN = regex(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
LABEL_KEY = r"(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
ENV_NAME = r"(?!\.\.|\.$)[A-Za-z_.-][A-Za-z0-9_.-]*"
LABEL_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"
_IMAGE = regex(
    # container runtimes take a first part in upper case for a registry, others for a folder of Docker Hub
    r"(?![^/.:]*[A-Z][^/.:]*/)(?:[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]+:[0-9a-fA-F]{32,})?"
)
_MAX_IMAGE = 512


def name_meant(text: str) -> str:
    """A name in lower case with `-` instead of other characters; empty if it is not obvious."""
    plain = unicodedata.normalize("NFKC", text).lower().strip()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") if re.fullmatch(r"[-\w. ]+", plain, re.ASCII) else ""


_LEAST_WORD = 4
_AND = regex(r"(?:-(?:a|and|by|for|from|in|of|on|the|to|with))+$")
"""Words that another one must follow."""


def shortened(name: str, most: int) -> str:
    """A name without the words at its end that have no room. A short word alone would say nothing."""
    if len(name) <= most:
        return name
    whole = _AND.sub("", name[:most] if name[most] == "-" else name[:most].rpartition("-")[0])
    return (whole if len(whole) >= _LEAST_WORD else name[:most]).strip("-")


def _subdomain_meant(text: str) -> str:
    return ".".join(name_meant(part) for part in text.split("."))


def _image_meant(text: str) -> str:
    """An image reference without a scheme, with its path in lower case."""
    name, colon, tag = re.sub(r"^[a-z]+://", "", text.strip()).rpartition(":")
    return f"{name.lower()}{colon}{tag}" if colon and "/" not in tag else f"{name}{colon}{tag}".lower()


Label = Annotated[
    str,
    matching(
        _DNS_LABEL,
        63,
        "a name of at most 63 lower-case letters, digits and `-`",
        "start and end with a letter or a digit",
        meant=name_meant,
        form=schema("name", "string", pattern=rf"^{_DNS_LABEL.pattern}$|\{{\{{", maxLength=63),
    ),
]
JobName = Annotated[
    str,
    matching(
        JOB_NAME,
        63,
        "a name of at most 63 lower-case letters, digits and `-`, starting with a letter",
        "start with a letter; the names of Services derive from it",
        meant=name_meant,
        form=schema("name", "string", pattern=f"^{JOB_NAME.pattern}$", maxLength=63),
    ),
]
ObjectName = Annotated[
    str,
    matching(
        DNS_SUBDOMAIN,
        253,
        "an object name of lower-case letters, digits, `-` and `.`",
        meant=_subdomain_meant,
        form=schema("object name", "string"),
    ),
]
QueueName = Annotated[
    str,
    matching(
        DNS_SUBDOMAIN,
        63,
        "a name of at most 63 lower-case letters, digits, `-` and `.`",
        meant=_subdomain_meant,
        form=schema("name", "string", pattern=rf"^{DNS_SUBDOMAIN.pattern}$|\{{\{{", maxLength=63),
    ),
]
"""Name of an object that is the value of a label, too."""
ConfigKey = Annotated[
    str,
    matching(
        regex(r"(?!\.\.)(?!\.$)[-._A-Za-z0-9]+"),
        253,
        "a key of a Secret or ConfigMap",
        "use letters, digits, `-`, `_` and `.`",
        form=schema("key", "string", "number", "boolean"),
    ),
]
LabelKey = Annotated[
    str,
    matching(
        regex(LABEL_KEY),
        317,
        "a label key",
        "use a form like `team` or `example.com/team`",
        form=schema("label key", "string"),
    ),
]
EnvName = Annotated[
    str,
    matching(
        regex(ENV_NAME),
        253,
        "an environment variable name",
        "use letters, digits, `_`, `-` and `.`; do not start with a digit or `..`",
        form=schema("variable name", "string"),
    ),
]
ResourceName = Annotated[
    str,
    matching(
        regex(r"(?=.*/)" + LABEL_KEY),
        317,
        "an extended resource name",
        "use a form like `nvidia.com/gpu`",
        form=schema("resource name", "string"),
    ),
]
LabelValue = Annotated[
    str,
    matching(
        regex(LABEL_VALUE),
        63,
        "a label value",
        "use at most 63 letters, digits, `-`, `_` and `.`",
        form=schema("label value", "string", "number", "boolean"),
    ),
]
PodField = Annotated[
    str,
    matching(
        regex(
            r"metadata\.(name|namespace|uid|(labels|annotations)\['" + LABEL_KEY + r"'\])"
            r"|spec\.(nodeName|serviceAccountName)|status\.(hostIP|hostIPs|podIP|podIPs)"
        ),
        400,
        "a pod field that the downward API supports",
        "use a form like `metadata.name`, `metadata.labels['app']`, `spec.nodeName` or `status.podIP`",
        form=schema("pod field", "string"),
    ),
]
ContainerResource = Annotated[
    str,
    matching(
        regex(r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMG]i)"),
        64,
        "a container resource that the downward API supports",
        "use a form like `limits.cpu` or `requests.memory`",
        form=schema("container resource", "string"),
    ),
]


def is_image(text: str) -> bool:
    """Whether a text is an image reference."""
    return len(judged := with_hash(text)) <= _MAX_IMAGE and _IMAGE.fullmatch(judged) is not None


ImageRef = Annotated[
    str,
    matching(
        _IMAGE,
        _MAX_IMAGE,
        "an image reference",
        "use a form like `registry.example.com/team/train:1.2`",
        meant=_image_meant,
        form=schema("image", "string"),
    ),
]
ImageStart = Annotated[
    str,
    matching(
        regex(r"(?!.*//)(?:[A-Za-z0-9][-A-Za-z0-9._:/]*)?"),
        256,
        "an image reference or a prefix of one",
        "use a form like `registry.example.com/mirror/`, without `https://`",
        form=schema("image prefix", "string"),
    ),
]
ImageGrant = Annotated[
    str,
    matching(
        regex(r"(?!.*//)(?:[A-Za-z0-9][-A-Za-z0-9._:/]*(?:@sha256:[0-9a-f]{64})?)?"),
        512,
        "an image reference or a prefix of one",
        "use a form like `registry.example.com/team`, without `https://`",
        form=schema("image prefix", "string"),
    ),
]
PATH = r"/(?!\.\.(?:/|$))[^\x00-\x1f/:]*"
"""A slash and one path segment that is not `..`. Repeat it to match a whole path."""
MountPath = Annotated[
    str,
    matching(
        regex(rf"(?:{PATH})+"),
        4096,
        "an absolute path without `:` or `..`",
        "start with `/`, and resolve any `..`",
        form=schema("absolute path", "string", pattern=r"^/|\{\{"),
    ),
]


URL_HOST = r"(?:[^\s@/%-][^\s@/]*@)*[^\s@/%-][^\s@/]*(?:/\S*)?"
"""Users and host of a URL. `ssh` and `rsync` would take a leading `-`, which `%2d` also stands for, for an option."""
_GIT = regex(rf"(?:https?|ssh)://{URL_HOST}|[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^\s-]\S*")


@lru_cache(maxsize=1024)  # jobs have the same code
def is_git_url(url: str) -> bool:
    """Whether Git can fetch from a URL by https, http or ssh, and takes no part of it for an option."""
    return _GIT.fullmatch(url) is not None
