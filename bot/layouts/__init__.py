"""Repository kinds: how configs become jobs, environments and launchers."""
