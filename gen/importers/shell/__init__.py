"""Reads commands from shell scripts without running them."""
