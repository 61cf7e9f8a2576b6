"""The field contract: no field of a job or of an overlay is accepted and ignored."""
