"""Pins: digests of the images and commits of the code of a job, in its lock."""
