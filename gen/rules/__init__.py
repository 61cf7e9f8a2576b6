"""Rules about objects that no schema states: those of the API server, of operators and of GitOps engines."""
