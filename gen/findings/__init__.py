"""Codes of findings, with their explanations."""
