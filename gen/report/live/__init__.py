"""Formats of the commands that read clusters."""
