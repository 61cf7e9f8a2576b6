"""Kubernetes objects as jobs: manifests in Git, and objects of a cluster."""
