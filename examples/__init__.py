"""Examples of the interface for Python."""
