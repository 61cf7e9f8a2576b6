"""Formats of `gen list`."""
