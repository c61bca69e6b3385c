"""Files that are whole or not there, and errors that name paths."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys

import pytest

from pslab.checkpoint.atomic import named_errors, publish, staging, write_text
from pslab.errors import InvalidArgumentError, NotFoundError, PermissionDeniedError, ResourceExhaustedError


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOENT, NotFoundError),
        (errno.EACCES, PermissionDeniedError),
        (errno.EPERM, PermissionDeniedError),
        (errno.EROFS, PermissionDeniedError),
        (errno.ENOTDIR, InvalidArgumentError),
        (errno.EISDIR, InvalidArgumentError),
        (errno.ENAMETOOLONG, InvalidArgumentError),
        (errno.ENOSPC, ResourceExhaustedError),
        (errno.EDQUOT, ResourceExhaustedError),
        (errno.EIO, ResourceExhaustedError),
    ],
)
def test_what_the_system_says_becomes_an_error_that_names_the_path(number, kind):
    with pytest.raises(kind, match=rf"cannot write /some/where: {os.strerror(number)}"), named_errors("write", "/some/where"):
        raise OSError(number, os.strerror(number))


def test_other_errors_pass():
    with pytest.raises(ZeroDivisionError), named_errors("write", "x"):
        raise ZeroDivisionError


def test_a_staging_directory_is_beside_the_target_and_goes(tmp_path):
    directory = tmp_path / "made" / "for it"
    with staging(str(directory)) as stage:
        assert os.path.dirname(stage) == str(directory)
        assert os.path.isdir(stage)
    assert os.listdir(directory) == []


def test_a_failure_leaves_the_former_file(tmp_path):
    target = tmp_path / "file"
    target.write_text("former")

    def fail_half_way():
        with staging(str(tmp_path)) as stage, open(os.path.join(stage, "new"), "w") as file:
            file.write("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert os.listdir(tmp_path) == ["file"]
    assert target.read_text() == "former"


def test_publish_replaces(tmp_path):
    (tmp_path / "file").write_text("former")
    (tmp_path / "new").write_text("new")
    publish(str(tmp_path / "new"), str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


def test_write_text_replaces(tmp_path):
    for text in ("former", "new θ"):
        write_text(str(tmp_path / "file"), text)
    assert (tmp_path / "file").read_text("utf-8") == "new θ"


def test_leftovers_of_dead_writers_of_this_host_go_and_no_others(tmp_path):
    here, dead = socket.gethostname(), dead_pid()
    kept = [f".pslab-{here}-{os.getpid()}-abc_1", f".pslab-not-{here}-{dead}-abc", f".pslab-{here}-x-abc", "mine"]
    for name in [*kept, f".pslab-{here}-{dead}-a_c"]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "data").write_text("half")
    with staging(str(tmp_path)) as stage:
        assert sorted(os.listdir(tmp_path)) == sorted([*kept, os.path.basename(stage)])
