"""Formats of `gen status`, `gen logs` and `gen top`."""
