"""Measurements, run by hand: see docs/performance.md."""
