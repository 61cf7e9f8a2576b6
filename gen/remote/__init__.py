"""Registries of images and Git servers, for `gen pin`: the digests of tags, and the commits of refs."""
