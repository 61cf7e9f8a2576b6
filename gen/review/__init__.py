"""Comparison of two rendered trees: effects of a merge on runs, data and GPUs."""
