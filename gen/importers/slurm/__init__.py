"""Batch scripts of Slurm as jobs."""
