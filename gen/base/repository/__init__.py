"""A user's repository: its layout, job files, overlay files, and safe reading and replacing of files."""
