"""Pins: the locks of jobs, and the registries and Git servers that resolve tags to digests and refs to commits."""
