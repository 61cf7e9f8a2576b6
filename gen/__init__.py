"""Short job files in Git, validated Kubernetes manifests out; `gen.pipeline` shows the whole run."""

__version__ = "0.1.0"
