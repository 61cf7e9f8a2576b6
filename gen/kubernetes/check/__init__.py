"""Checks of objects against schemas and rules."""
