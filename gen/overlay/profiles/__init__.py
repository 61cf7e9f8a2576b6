"""Profiles that overlays choose: storage, object stores, networks, accelerators, queues and GitOps engines."""
