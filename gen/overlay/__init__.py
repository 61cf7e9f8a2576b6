"""Overlays: read, extended, selected and checked."""
