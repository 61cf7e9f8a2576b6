"""Requests to Tencent BatchCompute as jobs."""
