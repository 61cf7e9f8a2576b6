"""Requests of the job files of a repository, read without rendering them."""
