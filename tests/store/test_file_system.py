"""A run on a network file system gets one warning; a local one none."""

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from store.file_system import network_file_system, network_warning

MOUNTS = {"/": "ext4", "/home": "nfs4", "/home/scratch": "xfs", "/data": "lustre", "/media/team": "fuse.sshfs"}


@pytest.fixture(autouse=True)
def mounts(monkeypatch):
    table = [SimpleNamespace(mountpoint=place, fstype=kind) for place, kind in MOUNTS.items()]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: table)


@pytest.mark.parametrize(
    ("directory", "kind"),
    [
        ("/tmp/runs", ""),
        ("/home/me/runs", "nfs4"),
        ("/home/scratch/runs", ""),
        ("/homestead/runs", ""),
        ("/data", "lustre"),
        ("/media/team/runs", "fuse.sshfs"),
    ],
)
def test_the_innermost_mount_counts(directory, kind):
    assert network_file_system(Path(directory)) == kind


def test_the_warning_names_the_directory_and_the_kind():
    assert network_warning(Path("/data/runs")).startswith("/data/runs lies on a network file system (lustre)")
    assert network_warning(Path("/tmp")) == ""
