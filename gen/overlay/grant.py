"""Grants: the resources that an overlay lets the jobs of a namespace use."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, ClassVar, Final, cast

from msgspec import structs
from pydantic import Field

from gen.base import Findings, Route, as_list, at, dotted, regex
from gen.base.codes.jobs import INVALID_VALUE
from gen.base.yaml.layers import Layers
from gen.base.yaml.strict import Data
from gen.job.model import LongForm, Model, ScalarOrMapping, ShortForm
from gen.job.names import DNS_LABEL, ImageGrant, Label, ObjectName
from gen.job.profile import Profile
from gen.job.scalars import Count, Positive, Price, Text, Truth, matching, schema
from gen.job.search import MAX_COMBINATIONS, MAX_RUNS
from gen.job.synonyms import GRANT, SEARCH
from gen.overlay.profiles.accelerators import ACCELERATORS
from gen.overlay.profiles.networks import NETWORKS
from gen.overlay.profiles.queues import QUEUES
from gen.overlay.profiles.storage import STORAGE

OTHERS: Final = "*"
"""Key of the grant of all namespaces that are not named."""
_REGISTRIES = (STORAGE, NETWORKS, ACCELERATORS, QUEUES)


def permissions() -> list[str]:
    """Privileges that some profiles require."""
    return _required(registry.values() for registry in _REGISTRIES)


def known_permissions(granted: Collection[str]) -> Collection[str]:
    """Permissions among which those in `granted` are looked up: those of the profiles in use, if they suffice."""
    used = _required(registry.loaded().values() for registry in _REGISTRIES)
    return used if set(granted) <= set(used) else permissions()


def _required(profiles: Iterable[Iterable[type[Profile]]]) -> list[str]:
    return sorted({profile.grant for some in profiles for profile in some if profile.grant})


Permission = Annotated[str, Field(json_schema_extra=lambda schema: schema.update(enum=permissions()))]
NamespaceKey = Annotated[
    str,
    matching(
        regex(rf"\*|{DNS_LABEL}"),
        63,
        "a namespace name, or `*` for all others",
        'use lower-case letters, digits and `-`, or `"*"` in quotes',
        form=schema("namespace", "string"),
    ),
]


class SearchGrant(Model):
    """Limits of each search of a namespace."""

    synonyms: ClassVar[Mapping[str, str]] = SEARCH
    main: ClassVar[str] = "maxTrials"

    max_trials: Positive
    """Most trials in all."""
    parallel_trials: Positive = 1
    """Most trials at the same time. Their GPUs and pods count against the quotas."""


class Grant(Model):
    """Resources that the jobs of a namespace may use."""

    synonyms: ClassVar[Mapping[str, str]] = GRANT
    main: ClassVar[str] = "gpus"

    gpus: Count | None = None
    """GPU quota: maximum number of GPUs for all active jobs of the namespace."""
    pods: Count | None = None
    """Pod quota: maximum number of pods for all active jobs of the namespace, and for its TensorBoards."""
    budget: Price | None = None
    """Most that the active jobs of the namespace may cost in a month, in `currency` of the overlay. `gen plan` refuses
    a change that exceeds it. All accelerators of the namespace need a `price`."""
    trust_finished: Truth = False
    """Free the quota of a run as soon as its job is `finished`. Otherwise `gen plan` still counts a run that is active
    at the base, because it may be running; set `state: suspended` first."""
    sweep_runs: Annotated[Positive, Field(le=MAX_COMBINATIONS)] = MAX_RUNS
    """Most runs of one sweep."""
    search: SearchGrant | None = None
    """Searches of the namespace. The cluster needs Katib, and the namespace the label
    `katib.kubeflow.org/metrics-collector-injection: enabled`. Defaults to none."""
    kfp: Truth = False
    """Pipelines with `kfp`. People start their runs in Kubeflow Pipelines, any number at once; quotas count one."""
    resource_quota: Truth = False
    """Render a ResourceQuota with the quotas of the namespace: the devices of each accelerator, and `pods`. The API
    server then also counts pods of runs that are `finished` or removed in Git. Not for `*`; the namespace must exist
    in the cluster."""
    queues: tuple[Label, ...] = ()
    """Queues of the overlay. If it declares none, these are Kueue LocalQueues. Kueue ignores the queue of a kind that
    its configuration does not list in `integrations.frameworks`, and the job starts at once: by default, PyTorchJob,
    TFJob, XGBoostJob, PaddleJob and JAXJob. Declare `queues`, and gen rejects such a job."""
    priorities: tuple[ObjectName, ...] = ()
    """Priorities of the overlay. If it declares none, these are PriorityClasses."""
    service_accounts: tuple[ObjectName, ...] = ()
    """ServiceAccounts."""
    volumes: tuple[Label, ...] | None = None
    """Volumes of the overlay. Defaults to all."""
    stores: tuple[Label, ...] | None = None
    """Object stores of the overlay. Defaults to all."""
    networks: tuple[Label, ...] | None = None
    """Networks of the overlay. Defaults to all."""
    accelerators: (
        Annotated[Annotated[tuple[Label, ...], ShortForm] | Annotated[dict[Label, Count], LongForm], ScalarOrMapping]
        | None
    ) = None
    """Accelerators of the overlay, as a list, or with the GPU quota of each, such as `{h100: 16}`. Defaults to all."""
    runtimes: tuple[ObjectName, ...] | None = None
    """Runtimes of the Kubeflow Trainer that the overlay declares. Defaults to all without host access, privileges,
    accounts and Secrets of their own that the namespace is not granted."""
    registries: tuple[ImageGrant, ...] | None = None
    """Allowed image prefixes, such as `registry.example.com/team`, checked after `images` is applied. Defaults to any.
    Docker Hub images start with `docker.io/`. A prefix with a tag does not include digests, which need their own.
    Images that the overlay or gen chooses need no grant, such as those of TensorBoards, `git-sync` and copies."""
    metadata: tuple[Text, ...] = ()
    """Prefixed label and annotation keys that jobs may set, as patterns such as `example.com/*`, and keys of
    `podLabels` with and without a prefix, by which Services and network policies select pods. `defaults` of the overlay
    need no grant."""
    node_labels: tuple[Text, ...] = ()
    """Node labels that `placement.nodeSelector` may use, as patterns such as `pool` (any value) or `pool=train-*`.
    Labels that only describe the machine, such as its instance type and zone, need no grant."""
    taints: tuple[Text, ...] = ()
    """Taints that `placement.tolerations` may tolerate, as patterns such as `dedicated` (any value) or `dedicated=ml`.
    `*` does not match those of the control plane."""
    allow: tuple[Permission, ...] = ()
    """Permissions that some profiles require."""

    @property
    def has_quotas(self) -> bool:
        return self.gpus is not None or self.pods is not None or isinstance(self.accelerators, dict)


class Group(Grant):
    """Namespaces with the same grants. A quota is for each of them, not for all together."""

    main: ClassVar[str] = "namespaces"

    namespaces: Annotated[tuple[NamespaceKey, ...], Field(min_length=1)]
    """Namespaces of the group; `*` for all that `namespaces` or another group names."""


_NAMESPACES: Final = "namespaces"


def with_groups(data: dict[str, Data], layers: Layers, found: Findings) -> tuple[dict[str, Data], Layers]:
    """The data with the grants of groups in each of their namespaces. Reports a field that two groups set.

    A namespace keeps the fields that it sets itself, then those of a group that names it, then those of `*`.
    """
    groups, own = data.get("groups", {}), data.get(_NAMESPACES, {})
    if not isinstance(groups, dict) or not isinstance(own, dict) or not groups:
        return data, layers
    members = {name: _members(group) for name, group in groups.items()}
    named = dict.fromkeys(one for some in members.values() for one in some if one != OTHERS)
    granted = dict(own)
    moved: dict[Route, Route] = {}
    for namespace in {**own, **named} or {OTHERS: None}:
        fields = own.get(namespace, {})
        if not isinstance(fields, dict):
            continue
        merged, common = dict(fields), dict[str, Data]()
        if namespace not in own:
            moved[_NAMESPACES, namespace] = next(
                ("groups", name) for name in groups if {namespace, OTHERS} & {*members[name]}
            )
        by_name = [(name, merged) for name in groups if namespace in members[name] and namespace != OTHERS]
        for name, target in [*by_name, *((name, common) for name in groups if OTHERS in members[name])]:
            for field, value in cast("dict[str, Data]", groups[name]).items():
                at = (_NAMESPACES, namespace, field)
                if field == _NAMESPACES or field in fields or (target is common and field in merged):
                    continue
                if field in target:
                    _report_twice(at, moved[at], ("groups", name, field), layers, found)
                elif namespace != OTHERS or field != "resourceQuota":  # needs the name of a namespace
                    target[field], moved[at] = value, ("groups", name, field)
        granted[namespace] = common | merged
    return data | {_NAMESPACES: granted}, structs.replace(layers, moved=moved)


def _members(group: Data) -> list[str]:
    return [name for name in as_list(at(group, _NAMESPACES)) if isinstance(name, str)]


def _report_twice(at: Route, first: Route, second: Route, layers: Layers, found: Findings) -> None:
    message = f"groups `{first[1]}` and `{second[1]}` both set `{at[2]}` of namespace `{at[1]}`"
    hint = f"set it in `{dotted(at)}`, or remove `{at[1]}` from one of the groups"
    found.error(
        INVALID_VALUE, layers.place(second, key=True), message, hint, [(layers.place(first, key=True), "first")]
    )
