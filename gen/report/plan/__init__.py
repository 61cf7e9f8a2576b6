"""Output formats of `gen plan`."""
