"""Imports `arena submit` of Arena 0.15 (kubeflow/arena, commit e30882c)."""
