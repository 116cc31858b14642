"""Pull requests of GitHub: read by tree and blob, answered by comments and a check, never checked out."""
