"""Pages of a whole repository: `gen site`."""
