"""Rendered objects, sent to a real kube-apiserver as dry runs. Needs `KUBEBUILDER_ASSETS`; skipped without it."""
