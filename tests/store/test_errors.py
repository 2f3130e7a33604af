"""Every way in which a disk says no becomes one clear line."""

import errno
from pathlib import Path

import pytest

from store import errors
from store.errors import AmagoError, StorageError, storage_guard


def test_exit_codes_are_distinct():
    kinds = [
        errors.AmagoError,
        errors.RunBusyError,
        errors.CheckpointError,
        errors.StorageError,
        errors.DivergedError,
    ]
    assert [kind.exit_code for kind in kinds] == [2, 3, 4, 5, 6]
    assert all(issubclass(kind, AmagoError) and issubclass(kind, ValueError) for kind in kinds)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        OSError("Can't write data (file write failed: time = now, errno = 28, error message = 'No space')"),
        RuntimeError("Unable to flush file (file write failed: errno = 28, error message = 'No space')"),
    ],
)
def test_a_full_disk_is_named_with_the_way_out(error):
    with pytest.raises(StorageError) as caught, storage_guard(Path("runs/a/x.h5"), "a"):
        raise error
    expected = "disk full while writing runs/a/x.h5; free space, then `amago train --resume a`"
    assert str(caught.value) == expected


def test_missing_permission_is_named():
    with pytest.raises(StorageError, match=r"no permission to write x\.h5"), storage_guard(Path("x.h5")):
        raise PermissionError(errno.EACCES, "Permission denied")


def test_other_errors_of_the_system_keep_their_reason():
    with (
        pytest.raises(StorageError, match=r"cannot write x\.h5: Is a directory"),
        storage_guard(Path("x.h5")),
    ):
        raise IsADirectoryError(errno.EISDIR, "Is a directory")


@pytest.mark.parametrize("error", [RuntimeError("a bug"), KeyError("a bug")])
def test_bugs_pass_unchanged(error):
    with pytest.raises(type(error), match="a bug"), storage_guard(Path("x.h5")):
        raise error
