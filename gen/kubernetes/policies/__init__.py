"""ValidatingAdmissionPolicies, evaluated as an API server evaluates them. Nothing here asks a cluster."""
