"""Rules of the API server that schemas cannot express: one file for each family of rules.

A server applies them when the object is created, or when an operator creates a pod from one of its templates. Checks of
a single value are in tables, checks of several values in functions. See `docs/extending.md`.
"""
