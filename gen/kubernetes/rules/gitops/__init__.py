"""Rules about GitOps: objects with which Argo CD or Flux would lose runs or data, or never finish syncing.

The table in `docs/gitops-reference.md` lists the known dangers, with the place of each check.
"""
