"""The build stage: a plan as Kubernetes objects."""
