"""Rendered workflows with the real controller and the real executor of Argo Workflows, which runs in pods' place."""
