"""Files of a run: the only meeting place of the trainer, the command line and the viewers.

This package knows how trajectories, metrics, status and configuration lie on disk. It does not know what an
environment, a network or a screen is, and it imports nothing of the other packages.
"""
