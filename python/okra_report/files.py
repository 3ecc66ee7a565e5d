"""Files that appear whole or not at all, as the program okra writes them (src/data/files/writer.c)."""
from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import sys
import tempfile
from typing import BinaryIO, Callable, Union

from .results import Refused


def _refuse_strangers(path: str, found: os.stat_result, where: str) -> None:
    """A link or pipe that a stranger put into a folder that all may write to."""
    folder = os.stat(where or ".")
    if folder.st_mode & stat.S_ISVTX and folder.st_mode & 0o022 and found.st_uid not in (os.geteuid(), folder.st_uid):
        raise Refused(f"{path}: another user put a {'pipe' if stat.S_ISFIFO(found.st_mode) else 'symbolic link'} there, "
                      "in a folder that all may write to")


def _check_folders(path: str, links: int = 40) -> None:
    """The same of links on the way to the folder of `path`."""
    at = "/" if path.startswith("/") else ""
    for step in filter(None, path.split("/")[:-1]):
        here = os.path.join(at, step)
        found = os.lstat(here)
        if stat.S_ISLNK(found.st_mode) and links:
            _refuse_strangers(path, found, at)
            _check_folders(os.path.join(at, os.readlink(here), ""), links - 1)
        at = here


def _followed(path: str, plain: bool) -> str:
    """What links to plain files name."""
    for _ in range(40):
        _check_folders(path)
        try:
            link = os.lstat(path)
        except FileNotFoundError:
            return path
        if not (stat.S_ISLNK(link.st_mode) or stat.S_ISFIFO(link.st_mode)):
            return path
        _refuse_strangers(path, link, os.path.dirname(path))
        if not plain:
            real = os.path.realpath(path)
            return real if os.path.exists(real) else path
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    raise Refused(f"{path}: too many symbolic links")


def _sweep(folder: str, stem: str) -> None:
    """Removes temporary files of writers that were killed: own plain files that nobody has locked."""
    for entry in os.scandir(folder):
        if entry.name.startswith(stem) and len(entry.name) == len(stem) + 8 and entry.is_file(follow_symlinks=False):
            with contextlib.suppress(OSError):
                handle = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                with os.fdopen(handle):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if os.fstat(handle).st_uid == os.geteuid():
                        os.unlink(entry.path)


def write(path: str, data: Union[bytes, str, Callable[[BinaryIO], object]]) -> None:
    """A file written whole or not at all; devices, pipes and links stay what they are. `data`: bytes,
    text, or what writes them into a file."""
    def fill(file: BinaryIO) -> None:
        if callable(data):
            data(file)
        else:
            file.write(data.encode("utf-8") if isinstance(data, str) else data)

    if path == "-":
        sys.stdout.flush()
        fill(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    try:
        mask = os.umask(0)
        os.umask(mask)
        mode, owner = 0o666 & ~mask, None
        try:
            found = os.stat(path)
            mode, owner = found.st_mode & 0o777, (found.st_uid, found.st_gid)
        except FileNotFoundError:
            found = None
        path = _followed(path, not found or stat.S_ISREG(found.st_mode))
        if found and stat.S_ISDIR(found.st_mode):
            raise Refused(f"{path}: Is a directory")
        if found and not stat.S_ISREG(found.st_mode):
            with open(path, "wb") as file:
                fill(file)
            return
        folder, stem = os.path.dirname(path) or ".", os.path.basename(path)[:60] + ".tmp"
        with contextlib.suppress(PermissionError):  # files may be made there, not listed
            _sweep(folder, stem)
        handle, temporary = tempfile.mkstemp(prefix=stem, dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                with contextlib.suppress(OSError):  # file systems without locks
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fill(file)
                file.flush()
                if owner:
                    try:
                        os.fchown(handle, *owner)
                    except PermissionError:  # who was of the group may do no more than before
                        mode &= 0o700
                os.fchmod(handle, mode)
                os.fsync(handle)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error
