"""Compiled pipelines of Kubeflow Pipelines as jobs."""
