"""Finding codes for overlays, patches and admission policies."""

from __future__ import annotations

from gen.base.codes import Code

UNKNOWN_OVERLAY = Code(
    "unknown-overlay",
    "`extends` refers to an overlay that does not exist.",
    "There is nothing to inherit.",
    "Correct the name.",
)
EXTENDS_ITSELF = Code(
    "extends-itself",
    "An overlay extends itself, directly or through other overlays.",
    "The inheritance would never end.",
    "Remove one of the `extends`.",
)
NOT_VENDORED = Code(
    "not-vendored",
    "An overlay extends another repository without a copy here, or its `vendor.lock` cannot be read.",
    "Rendering reads only files of this repository.",
    "Run `gen vendor`, and commit the copied files.",
)
OTHER_ORIGIN = Code(
    "other-origin",
    "The `vendor.lock` of an overlay names another repository, ref or path than `extends`.",
    "The files are not those that the overlay extends, and a reviewer would take them for those.",
    "Run `gen vendor`, and commit the copied files.",
)
EDITED_VENDORED = Code(
    "edited-vendored",
    "A file in `vendor/` of an overlay is not the one of the other repository: it was edited, added, removed, or is a "
    "link.",
    "The files belong to the other repository, and the next `gen vendor` would undo the change.",
    "Change the file there; or set the field in the overlay that extends it; then run `gen vendor`, which restores the "
    "files.",
)
UNUSED_VENDORED = Code(
    "unused-vendored",
    "An overlay has a `vendor/` folder or a `vendor.lock`, but extends no overlay of another repository.",
    "Nothing reads or checks the files any more, and a reader takes them for those of the platform.",
    "Remove the folder and the lock with the command in the finding, or extend the overlay again.",
)
REFUSED_TREE = Code(
    "refused-tree",
    "A folder of another repository has a link, a submodule, a name that not every system can have, a file that is too "
    "large, or too many files.",
    "Its files become a part of this repository, on all machines.",
    "Change the other repository, or name a smaller folder in `extends.path`.",
)
MOVED_TAG = Code(
    "moved-tag",
    "A tag that an overlay extends now is another commit than the one in its `vendor.lock`.",
    "The content of a version should not change: an attacker may have replaced it.",
    "Ask the owners of the repository. Name another tag in `extends.ref`, or remove `vendor.lock` to take the new "
    "content.",
)
NEWER_VERSION = Code(
    "newer-version",
    "A repository that an overlay extends has a newer version.",
    "`gen vendor --update` takes it. Runs keep their committed form.",
    "Run `gen vendor --update`.",
)
UNKNOWN_KUBERNETES_VERSION = Code(
    "unknown-kubernetes-version",
    "gen has no schemas for this version of Kubernetes.",
    "Manifests cannot be validated without schemas.",
    "Use one of the versions in the finding.",
)
KUBERNETES_UPGRADE = Code(
    "kubernetes-upgrade",
    "An overlay has a newer version of Kubernetes than at the base. The finding names what it removes, deprecates or "
    "changes for the objects here.",
    "Objects that are valid in both versions can behave differently after the upgrade.",
    "Make the change that the finding names before the upgrade of the cluster, or accept it.",
)
UNKNOWN_API_VERSION = Code(
    "unknown-api-version",
    "An overlay selects an API version that gen does not support for the kind.",
    "gen does not support the fields of that version.",
    "Use one of the API versions in the finding, and of these the one that the cluster serves. For MPIJob, "
    "`kubeflow.org/v2beta1` requires the MPI operator, and also a training operator that is started with "
    "`--enable-scheme=tfjob --enable-scheme=pytorchjob`; `kubeflow.org/v1` requires the training operator alone.",
)
RESERVED_NAME = Code(
    "reserved-name",
    "A volume, network or overlay has a name that gen uses itself.",
    "The two would collide in a pod or in `rendered/`.",
    "Choose another name.",
)
UNKNOWN_PERMISSION = Code(
    "unknown-permission",
    "`namespaces.<namespace>.allow` contains an unknown permission.",
    "A misspelled permission grants nothing.",
    "Correct the name; the finding suggests the closest one.",
)
SELECTS_NOTHING = Code(
    "selects-nothing",
    "A pattern in `select.include` matches no job.",
    "The pattern is misspelled, or its jobs were removed.",
    "Correct the pattern, or remove it.",
)
INVALID_DEFINITION = Code(
    "invalid-definition",
    "A CustomResourceDefinition in `crds` of an overlay cannot be read.",
    "Objects of its kind cannot be validated.",
    "Copy the definition again from the cluster or from the release of the operator, or remove the file.",
)
INVALID_PATCH = Code(
    "invalid-patch",
    "A patch is neither a valid strategic merge patch nor a valid list of JSON patch operations.",
    "It cannot be applied, or only in part.",
    "Follow the finding; RFC 6902 and the Kustomize documentation specify the formats.",
)
UNMATCHED_PATCH = Code(
    "unmatched-patch",
    "No rendered object matches the target of a patch. It is an error if the kind is misspelled, and in "
    "`gen check --strict`.",
    "The patch has no effect. The last job that it was for may have been removed.",
    "Correct the target, or remove the patch.",
)
UNMATCHED_DIRECTIVE = Code(
    "unmatched-directive",
    "No patched object has the value that a `$patch: delete` deletes. It is an error in `gen check --strict`.",
    "The directive has no effect.",
    "Correct the keys of the entry, or remove the directive.",
)
PATCH_DOES_NOT_APPLY = Code(
    "patch-does-not-apply",
    "An operation of a patch refers to a path that does not exist in one of the target objects.",
    "gen does not apply a part of a patch.",
    "Correct the path, or restrict the target.",
)
PATCH_RENAMES = Code(
    "patch-renames",
    "A patch changes `apiVersion`, `kind`, `name` or `namespace`.",
    "The result would be another object, which no other part of the run refers to.",
    "Rename the job, or move it to another namespace.",
)
PATCH_BREAKS = Code(
    "patch-breaks",
    "A patch changes a field that other objects or controllers depend on: main container, selector labels, "
    "protection of data.",
    "The operator, a Service or a GitOps engine would no longer find the object, or would delete data.",
    "Remove the change; use the field or the alternative in the finding.",
)
MISSING_PLUGIN = Code(
    "missing-plugin",
    "An overlay names a plugin that is not installed.",
    "gen cannot render the kinds and profiles of the plugin.",
    "Install it with the command in the finding, and add it to the requirements of the repository.",
)
PLUGIN_VERSION = Code(
    "plugin-version",
    "The installed version of a plugin is outside of the range in the overlay.",
    "Another version can render other manifests.",
    "Install a version in the range, or change the range.",
)
INVALID_PLUGIN = Code(
    "invalid-plugin",
    "A plugin cannot be loaded: it raises an error, provides nothing, or uses a name that is taken.",
    "gen cannot render the kinds and profiles of the plugin.",
    "Remove the plugin, or use a version that works with this version of gen.",
)
PLUGIN_NOT_NAMED = Code(
    "plugin-not-named",
    "A job or an overlay uses a kind or a profile of a plugin that the overlay does not name under `plugins`.",
    "The rendered files would depend on whether the plugin is installed.",
    "Add the plugin to `plugins` of the overlay.",
)
MISSING_DEFINITION = Code(
    "missing-definition",
    "An overlay declares a kind whose definition it does not have.",
    "Without the definition, the objects of the kind cannot be checked.",
    "Copy the CustomResourceDefinition of the operator's release into the folder `crds/` of the overlay.",
)
NOTHING_MATCHES = frozenset({SELECTS_NOTHING.name, UNMATCHED_DIRECTIVE.name, UNMATCHED_PATCH.name})
"""Warnings about parts of an overlay that no job uses; errors in `gen check --strict`."""

POLICY_DENIED = Code(
    "policy-denied",
    "A ValidatingAdmissionPolicy denies an object: a binding has the action `Deny`, and a validation does not hold or "
    "cannot be evaluated.",
    "The API server would refuse the object after the merge, and nothing would start.",
    "Change the job, the overlay or the patch so that the policy accepts the object. The finding has the message of "
    "the policy and the place of its validation.",
)
POLICY_WARNING = Code(
    "policy-warning",
    "A ValidatingAdmissionPolicy whose binding has only the actions `Warn` or `Audit` does not accept an object.",
    "The API server accepts the object, but its owners want to know.",
    "Change the job, the overlay or the patch so that the policy accepts the object.",
)
POLICY_NOT_EVALUATED = Code(
    "policy-not-evaluated",
    "A policy depends on something that only the cluster knows: permissions of the user, labels of a namespace, fields "
    "that the server sets, another version of the object. It is also reported for work beyond the limits.",
    "The cluster can refuse objects that gen accepts.",
    "Add the Namespace to the folder of policies if its labels decide; otherwise expect the result in the cluster.",
)
INVALID_POLICY = Code(
    "invalid-policy",
    "A file in `policies/` of an overlay contains an object that an API server refuses, such as a policy with an "
    "expression of a wrong type.",
    "The policy would not exist in the cluster, so that gen cannot evaluate it either.",
    "Correct the object; the finding names the field and the expected value.",
)
UNKNOWN_POLICY = Code(
    "unknown-policy",
    "A ValidatingAdmissionPolicyBinding names a policy that is in no file of its folder.",
    "The binding has no effect, in the cluster and in gen. Among manifests it is a warning: the cluster may have the "
    "policy.",
    "Correct `policyName`, or add the policy.",
)
UNBOUND_POLICY = Code(
    "unbound-policy",
    "A ValidatingAdmissionPolicy has no ValidatingAdmissionPolicyBinding in the files of its folder.",
    "A policy without a binding is never evaluated.",
    "Add a binding with `policyName` and `validationActions`.",
)
MISSING_PARAM = Code(
    "missing-param",
    "A binding refers to parameters, and no file of its folder has an object of that kind, name or labels. It is a "
    "warning if `parameterNotFoundAction` is `Allow`.",
    "Without parameters, the API server denies all matched requests, or accepts them all.",
    "Add the object to the folder of policies, or correct `paramRef` of the binding or `paramKind` of the policy.",
)
