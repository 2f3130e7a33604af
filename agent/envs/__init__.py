"""Environments and the machinery that runs many of them at once. Imports no torch."""
