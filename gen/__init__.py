"""Short job files in Git, validated Kubernetes manifests out; `gen.render.pipeline` shows the stages of a job."""

__version__ = "0.1.0"

DOCUMENTATION: str = ""
"""Address of the published documentation, `project.urls.Documentation` of the package; empty if there is none."""

LIVE_EXTRA: str = "install gen from its source with the extra `live`, such as `pip install '.[live]'` in a checkout"
"""Not by a name alone: the owner of the name in an index chooses the package that is installed."""
