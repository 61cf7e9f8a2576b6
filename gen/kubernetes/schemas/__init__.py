"""JSON Schemas of objects: those of Kubernetes, of training kinds, and of users' definitions."""
