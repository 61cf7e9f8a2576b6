"""The bundle of Flux with the real source-controller and kustomize-controller, over Git repositories on loopback."""
