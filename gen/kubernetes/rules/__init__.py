"""Rules that schemas cannot express: those of the API server, of operators and of GitOps engines."""
