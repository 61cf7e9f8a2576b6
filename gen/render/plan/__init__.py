"""The plan stage: every decision about one job in one overlay."""
