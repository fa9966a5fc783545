"""What becomes of the file that is replaced: its permissions; and of errors of the output."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import sapwood


def test_a_read_only_file_system(tmp_path):
    """What cannot be written is a WriteError, of whatever makes files."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("needs root, to mount a read-only file system")
    with sapwood.recreate(tmp_path / "in.root") as file:
        file["t"] = {"x": [1.0]}
    code = f"""
import sapwood
source, out = "{tmp_path}/in.root", "{tmp_path}/locked/out.root"
for work in (
    lambda: sapwood.merge(out, [source]),
    lambda: sapwood.optimize(source, out),
    lambda: sapwood.recreate(out),
    lambda: sapwood.map(source).save(out + ".svg"),
):
    try:
        work()
    except sapwood.WriteError as e:
        assert out in str(e) and "Read-only" in str(e), e
    else:
        raise AssertionError("written")
try:
    sapwood.merge("{tmp_path}/x.root", ["{tmp_path}/none.root"])
except FileNotFoundError as e:
    assert "none.root" in str(e)
"""
    (tmp_path / "locked").mkdir()
    mounted = f"mount -t tmpfs -o ro none {tmp_path}/locked && exec {sys.executable} -c '{code}'"
    done = subprocess.run(["unshare", "-m", "sh", "-c", mounted], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("mode", "becomes"), [(0o660, 0o600), (0o664, 0o644), (0o640, 0o600), (0o644, 0o644)])
def test_what_a_group_could_read_is_not_given_to_another(mode, becomes):
    """Who replaces a file of another user and group cannot keep them: his group gets what everybody had."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to be somebody else")
    folder = Path(tempfile.mkdtemp(prefix="sapwood-tests-"))
    try:
        folder.chmod(0o777)
        path = folder / "a.root"
        with sapwood.recreate(path) as file:
            file["t"] = {"x": [1.0]}
        os.chown(path, 4321, 1234)
        path.chmod(mode)
        job = os.fork()
        if job == 0:
            try:
                os.setgroups([])
                os.setgid(60001)
                os.setuid(60001)
                with sapwood.recreate(path) as file:
                    file["t"] = {"x": [2.0]}
            finally:
                os._exit(0)
        os.waitpid(job, 0)
        there = path.stat()
        assert (there.st_uid, there.st_gid, there.st_mode & 0o7777) == (60001, 60001, becomes)
        assert sapwood.open(path)["t"]["x"].array(library="np").tolist() == [2.0]
    finally:
        shutil.rmtree(folder)
