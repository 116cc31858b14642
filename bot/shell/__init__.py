"""The abstract interpreter of bash: no process is ever started."""
