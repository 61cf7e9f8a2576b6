"""Runs in clusters: the only room with requests to API servers, which are all reads."""
