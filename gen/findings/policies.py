"""Finding codes for admission policies."""

from __future__ import annotations

from gen.findings.code import Code

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
    "A ValidatingAdmissionPolicyBinding names a policy that is in no file beside it.",
    "The binding has no effect, in the cluster and in gen.",
    "Correct `policyName`, or add the policy.",
)
UNBOUND_POLICY = Code(
    "unbound-policy",
    "A ValidatingAdmissionPolicy has no ValidatingAdmissionPolicyBinding in the files beside it.",
    "A policy without a binding is never evaluated.",
    "Add a binding with `policyName` and `validationActions`.",
)
MISSING_PARAM = Code(
    "missing-param",
    "A binding refers to parameters, and no file beside it has an object of that kind, name or labels. It is a warning "
    "if `parameterNotFoundAction` is `Allow`.",
    "Without parameters, the API server denies all matched requests, or accepts them all.",
    "Add the object to the folder of policies, or correct `paramRef` of the binding or `paramKind` of the policy.",
)
