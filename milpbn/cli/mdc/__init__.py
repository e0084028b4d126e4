"""The commands for several class variables."""
