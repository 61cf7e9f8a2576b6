"""Edits of job files: one field at a time, without a change to comments, order or layout."""
