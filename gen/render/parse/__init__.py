"""The model stage: a job file as an overlay sees it, checked."""
