"""Commands of jobs with real launchers, in pods that are processes of this machine."""
