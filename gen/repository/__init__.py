"""A user's repository: its layout, job files, overlay files, and how files are read and replaced safely."""
