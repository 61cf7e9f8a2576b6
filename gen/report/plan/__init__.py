"""Formats of `gen plan`, and the view that they share."""
