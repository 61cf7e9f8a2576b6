"""Overlays: the clusters and environments that jobs are rendered for, and the resources that they grant.

`read` returns an `overlay.Overlay` for each file, validated by the models in `fields`; `entries` has the fields that
hold `profiles`, `grant` the grants of namespaces, `patch` the patches. `plugins` adds kinds and profiles of packages.
"""
