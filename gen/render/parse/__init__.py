"""The model stage: a job file with the defaults of an overlay, evaluated and validated."""
