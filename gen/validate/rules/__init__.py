"""Rules about objects that no schema states: one file for each family, and the one list of them.

They are those that a real API server applies when the object is created, or when an operator creates a pod of one of
its templates. What is a matter of one value stands in a table; what concerns several, in a function. See
`docs/extending.md`.
"""

from __future__ import annotations

from typing import Final

from gen.validate.rule import Rule
from gen.validate.rules.access import access
from gen.validate.rules.affinity import affinity
from gen.validate.rules.autoscaling import autoscaling
from gen.validate.rules.classes import classes, secrets
from gen.validate.rules.config_maps import config_maps
from gen.validate.rules.containers import containers
from gen.validate.rules.cron import cron_jobs
from gen.validate.rules.custom import custom
from gen.validate.rules.environment import environment
from gen.validate.rules.ingresses import ingresses
from gen.validate.rules.jobs import jobs
from gen.validate.rules.metadata import metadata
from gen.validate.rules.mounts import mounts
from gen.validate.rules.network_policies import network_policies
from gen.validate.rules.pods import pods
from gen.validate.rules.policies import policies
from gen.validate.rules.ports import ports
from gen.validate.rules.probes import probes
from gen.validate.rules.projected import projected
from gen.validate.rules.quotas import quotas
from gen.validate.rules.resources import resources
from gen.validate.rules.scheduling import scheduling
from gen.validate.rules.security import security
from gen.validate.rules.services import services
from gen.validate.rules.storage import storage
from gen.validate.rules.volumes import volumes
from gen.validate.rules.windows import windows
from gen.validate.rules.workloads import workloads

_BY_SERVER: Final = "The API server refuses the object, or the pod that is made of its template."

_ALL = (
    Rule(
        "metadata",
        "Names, labels, annotations, finalizers and owners have the form that the server asks for, in objects "
        "and in pod templates.",
        _BY_SERVER,
        "Write lower case letters, digits and `-` in names; a label has at most 63 characters of letters, "
        "digits, `-`, `_` and `.`.",
        metadata,
    ),
    Rule(
        "pods",
        "Fields of a pod that are no container's: policies, DNS, host names and aliases, gates, claims, what is "
        "shared with the host.",
        _BY_SERVER,
        "Use one of the words that the finding lists, or leave the field out.",
        pods,
    ),
    Rule(
        "containers",
        "A pod has containers; each has a name of its own, an image, and policies out of the known words.",
        _BY_SERVER,
        "Give every container an image and a name that no other has.",
        containers,
    ),
    Rule(
        "ports",
        "Ports are between 1 and 65535, their names are short and unique in a container, and no port of the host "
        "is taken twice.",
        _BY_SERVER,
        "Give each port a name of at most 15 lower case letters, digits and `-`, and a number of its own.",
        ports,
    ),
    Rule(
        "environment",
        "Variables have names, one source each, and references to fields and resources that a pod can know.",
        _BY_SERVER,
        "Use either `value` or one kind of `valueFrom`, with a name and a key.",
        environment,
    ),
    Rule(
        "probes",
        "Probes and hooks do one thing each, with ports and numbers that are possible.",
        _BY_SERVER,
        "Keep one of `exec`, `httpGet`, `tcpSocket`, `grpc`; `successThreshold` of liveness and startup probes is 1.",
        probes,
    ),
    Rule(
        "security",
        "Users, groups, profiles, privileges and kernel parameters of pods and containers go together.",
        _BY_SERVER,
        "Remove one of the fields that exclude each other.",
        security,
    ),
    Rule(
        "windows",
        "Fields for Windows stand in pods for Windows only, and the other way round.",
        _BY_SERVER,
        "Set `os.name` to what the image is for, and remove the fields of the other system.",
        windows,
    ),
    Rule(
        "resources",
        "Requests are not over limits, extended resources and huge pages are whole and asked for as they are limited.",
        _BY_SERVER,
        "Write extended resources, such as GPUs, as `limits` in whole numbers, and no request above its limit.",
        resources,
    ),
    Rule(
        "volumes",
        "Every volume has a name of its own, one source, and what that source needs.",
        _BY_SERVER,
        "Keep one source for each volume, and give it its required fields.",
        volumes,
    ),
    Rule(
        "projected",
        "Projected volumes have sources of one kind each, and no two write to one path.",
        _BY_SERVER,
        "Give each file a path of its own.",
        projected,
    ),
    Rule(
        "mounts",
        "Every mount and device names a volume of its pod, and no path is taken twice.",
        _BY_SERVER,
        "Add the volume to the pod, or correct the name of the mount.",
        mounts,
    ),
    Rule(
        "scheduling",
        "Tolerations and spread constraints are complete and do not contradict themselves.",
        _BY_SERVER,
        "A toleration without a key needs `operator: Exists`; `tolerationSeconds` needs `effect: NoExecute`.",
        scheduling,
    ),
    Rule(
        "affinity",
        "Affinity has weights, terms and selectors that the scheduler can use.",
        _BY_SERVER,
        "Give each term its `topologyKey` and each expression an operator with as many values as it takes.",
        affinity,
    ),
    Rule(
        "jobs",
        "Completions, indices, restart policies and selectors of batch jobs go together.",
        _BY_SERVER,
        "Set `restartPolicy` to `Never` or `OnFailure`; fields per index need `completionMode: Indexed`.",
        jobs,
    ),
    Rule(
        "policies",
        "What a batch job makes of failed and succeeded pods refers to its containers, exit codes and indices.",
        _BY_SERVER,
        "Name a container that is there, and order exit codes and indices.",
        policies,
    ),
    Rule(
        "cron-jobs",
        "Schedules, time zones and policies of cron jobs can be read.",
        _BY_SERVER,
        "Write five fields, such as `0 3 * * *`.",
        cron_jobs,
    ),
    Rule(
        "workloads",
        "Deployments and their like select the pods of their template, always restart them, and can replace them.",
        _BY_SERVER,
        "Repeat the labels of the template in the selector.",
        workloads,
    ),
    Rule(
        "services",
        "Ports, type and traffic of a service go together.",
        _BY_SERVER,
        "Give several ports a name each, and leave out what is for another type.",
        services,
    ),
    Rule(
        "ingresses",
        "Hosts, paths and backends of an ingress are complete.",
        _BY_SERVER,
        "Give each path a `pathType` and a backend with a service and one port.",
        ingresses,
    ),
    Rule(
        "config-maps",
        "Keys of a config map are file names, binary values are base64, and all is at most 1 MiB.",
        _BY_SERVER,
        "Rename the key, or move large data to a volume.",
        config_maps,
    ),
    Rule(
        "storage",
        "Persistent volumes have one source and a capacity, claims ask for storage, and both say how they are "
        "accessed.",
        _BY_SERVER,
        "Add what is missing: `capacity.storage`, `accessModes`, `resources.requests.storage`, a source.",
        storage,
    ),
    Rule(
        "classes",
        "Storage classes and priority classes have values out of the known words and ranges.",
        _BY_SERVER,
        "Use one of the words that the finding lists.",
        classes,
    ),
    Rule(
        "secrets",
        "Keys of a secret are file names, values are base64, and typed secrets have the keys of their type.",
        _BY_SERVER,
        "Write plain text in `stringData`, or encode the value.",
        secrets,
    ),
    Rule(
        "network-policies",
        "Peers, ports and ranges of a network policy are complete and exclude each other where they must.",
        _BY_SERVER,
        "Keep either `ipBlock` or selectors in a peer.",
        network_policies,
    ),
    Rule(
        "autoscaling",
        "Targets, metrics and behaviour of an autoscaler are complete.",
        _BY_SERVER,
        "Give each metric the source of its type with one target value.",
        autoscaling,
    ),
    Rule(
        "access",
        "Roles grant verbs on resources, and bindings name a role and subjects of known kinds.",
        _BY_SERVER,
        "Add the missing verbs, groups or resources, or correct the kind.",
        access,
    ),
    Rule(
        "quotas",
        "Quotas, ranges and budgets are about known resources with possible amounts.",
        _BY_SERVER,
        "Use a resource that can be limited, and keep minimum, default and maximum in order.",
        quotas,
    ),
    Rule(
        "custom",
        "Training resources keep what their definitions say beyond our schemas: no nulls, plain quantities, "
        "lists without double entries.",
        "The server holds training resources against the definitions that their operators install.",
        "Leave the field out, quote the quantity, or remove the second entry.",
        custom,
    ),
)
RULES: Final[dict[str, Rule]] = {rule.name: rule for rule in _ALL}
"""The rules of a server by name, in the order in which they are applied."""

__all__ = ["RULES"]
