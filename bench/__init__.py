"""Benchmarks, run manually. See docs/performance.md."""
