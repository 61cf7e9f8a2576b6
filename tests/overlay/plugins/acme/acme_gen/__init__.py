"""A plugin of gen: the kind `swarm`, the storage profile `tape` and the network profile `mesh`."""
