"""The ground floor: findings and places, codes, YAML with places, routes through data, the repository, processes, text.

It knows nothing of Kubernetes objects or jobs, and imports nothing else of gen.
"""
