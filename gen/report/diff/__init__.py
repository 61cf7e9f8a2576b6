"""Formats of `gen diff`."""
