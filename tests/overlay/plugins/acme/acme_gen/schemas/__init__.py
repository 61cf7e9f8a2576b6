"""Schemas of the objects that the plugin renders."""
