"""What gen renders, sent to a real kube-apiserver as dry runs. Needs `KUBEBUILDER_ASSETS`; skipped without it."""
