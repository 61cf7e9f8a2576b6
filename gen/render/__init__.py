"""The run: `pipeline` lists the stages from job files to `rendered/`."""
