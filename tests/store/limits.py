"""Full disks where no file system can be mounted."""

import resource
from contextlib import contextmanager


@contextmanager
def largest_file(num_bytes):
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
