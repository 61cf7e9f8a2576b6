"""Committed runs in `rendered/` that a render keeps, because their jobs did not change."""
