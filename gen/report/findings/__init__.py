"""Formats of findings and file changes, one file each."""
