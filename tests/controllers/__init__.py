"""Rendered objects on a real API server with real controllers. Needs `KUBEBUILDER_ASSETS` and `CONTROLLERS`.

`scripts/controllers/*.sh` build the controllers. There are no nodes: `kubelet.py` writes the status of pods instead.
"""
