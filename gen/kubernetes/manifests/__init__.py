"""Manifests of any origin, read as kubectl, Argo CD and Flux read them."""
