"""On what kind of file system a directory lies. A network's may have no locks, and sees a rename late.

It knows mount tables. What a run needs of a file system, others know.
"""

from __future__ import annotations

from pathlib import Path

import psutil

_NETWORK = {"9p", "afs", "beegfs", "ceph", "cifs", "fuse.sshfs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "smb3"}
_FAMILIES = ("nfs", "smb", "fuse.gluster", "fuse.ceph")


def network_file_system(directory: Path) -> str:
    """The type of the network file system that holds `directory`, like "nfs4"; empty on a local one.

    Looks at the table of mounts only: asking a server that is away would wait for it.
    """
    place = directory.absolute()
    mounts = [mount for mount in psutil.disk_partitions(all=True) if place.is_relative_to(mount.mountpoint)]
    if not mounts:
        return ""
    kind = max(mounts, key=lambda mount: len(mount.mountpoint)).fstype.lower()
    return kind if kind in _NETWORK or kind.startswith(_FAMILIES) else ""


def network_warning(directory: Path) -> str:
    """One line for the owner of a run that lies on a network file system, otherwise empty."""
    kind = network_file_system(directory)
    if not kind:
        return ""
    return (
        f"{directory} lies on a network file system ({kind}): two machines could train one run at once, "
        "and readers elsewhere see files late; a local directory is safer"
    )
