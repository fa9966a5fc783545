"""Files that are written to while they are open: never a mixture of old and new values that passes for the whole."""

import itertools
import os
import shutil
import socket
import warnings

import hist
import numpy as np
import pytest
from running_servers import running
from scripted_http import Scripted, good

import sapwood

ENTRIES = 60_000
NAMES = [f"b{i}" for i in range(6)]
CHANGED = "changed while it was being read"


def write(path, seed):
    rng = np.random.default_rng(seed)
    values = {name: rng.random(ENTRIES) for name in NAMES}
    with sapwood.recreate(path, compression=None) as file:
        # neither at the beginning nor at the end, which come along when the file is opened
        file["h"] = hist.Hist(hist.axis.Regular(10_000, 0, 1)).fill(values["b0"])
        tree = file.mktree("t", values, auto_flush=1000, optimize_baskets=False, basket_size="8 kB")
        if tree.num_entries == 0:
            tree.extend(values)
    return values


def written_twice(folder):
    """The new folder, two files of one tree and of one size that were written in it, and the values of both."""
    folder.mkdir()
    values = [write(folder / f"{name}.root", seed) for name, seed in (("old", 1), ("new", 2))]
    old, new = ((folder / f"{name}.root").read_bytes() for name in ("old", "new"))
    assert len(old) == len(new) and old != new
    return folder, old, new, values


@pytest.fixture(scope="module")
def versions(public):
    where, old, new, (values, _) = written_twice(public / "changing")
    return where, old, new, values


def rewrite(path, content):
    """In place: the file stays the same one."""
    with open(path, "r+b") as file:
        file.write(content)


@pytest.fixture(scope="module", params=["local", "nginx", "xrootd", "sapwood"])
def place(request, versions, command):
    """Gives the URL of a path in the directory."""
    if request.param == "local":
        yield str
        return
    with running(request.param, versions[0], command) as server:
        yield server.url


@pytest.fixture(params=["just written", "written long ago"])
def path(request, versions):
    """A file that may be written to; some clocks do not tell two changes within a second apart."""
    where, old, _, _ = versions
    path = where / "f.root"
    path.write_bytes(old)
    if request.param != "just written":
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def test_rewritten_between_batches(place, path, versions):
    _, _, new, values = versions
    with sapwood.open(place(path), cache_size="100 kB") as file:
        batches = file["t"].iterate(NAMES, step_size=1000, library="np")
        first = next(batches)
        assert all(np.array_equal(first[name], values[name][:1000]) for name in NAMES)
        rewrite(path, new)
        try:
            rest = list(batches)
        except sapwood.CorruptError as error:
            if CHANGED in str(error):
                return
            raise
        # all of a local file may have been read before
        read = {name: np.concatenate([batch[name] for batch in [first, *rest]]) for name in NAMES}
        assert all(np.array_equal(read[name], values[name]) for name in NAMES)


def test_rewritten_before_anything_is_read(place, path, versions):
    with sapwood.open(place(path)) as file:
        tree = file["t"]
        rewrite(path, versions[2])
        with pytest.raises(sapwood.CorruptError, match=CHANGED):
            tree.arrays(["b3"], library="np")


def test_rewritten_in_a_loop_over_entries(place, path, versions):
    with sapwood.open(place(path), cache_size="100 kB") as file:
        tree = file["t"]

        def loop():
            for i, entry in enumerate(tree.entries()):
                assert all(entry[name] is not None for name in NAMES)
                if i == 200:
                    rewrite(path, versions[2])

        with pytest.raises(sapwood.CorruptError, match=CHANGED):
            loop()


def test_rewritten_before_it_is_drawn(place, path, versions):
    with sapwood.open(place(path)) as file:
        tree = file["t"]
        rewrite(path, versions[2])
        with pytest.raises(sapwood.CorruptError, match=CHANGED):
            tree.draw("b2", "b4 > 0.5", bins=(10, 0, 1))


def test_grown_or_cut(place, path, versions):
    for content in (versions[1] + bytes(1000), versions[1][:-1000]):
        path.write_bytes(versions[1])
        with sapwood.open(place(path)) as file:
            tree = file["t"]
            path.write_bytes(content)
            with pytest.raises(sapwood.CorruptError, match=f"{CHANGED}|truncated while being read|fewer bytes"):
                tree.arrays(["b3"], library="np")


def test_another_file_under_the_name_is_another_file(versions, tmp_path):
    """Renaming a new file to the name leaves the old one intact for readers that have it open."""
    path = tmp_path / "f.root"
    path.write_bytes(versions[1])
    (tmp_path / "new").write_bytes(versions[2])
    with sapwood.open(path) as file:
        tree = file["t"]
        os.replace(tmp_path / "new", path)
        assert np.array_equal(tree.arrays(["b3"], library="np")["b3"], versions[3]["b3"])


def test_permissions_and_links_are_no_change(versions, tmp_path):
    path = tmp_path / "f.root"
    path.write_bytes(versions[1])
    os.utime(path, (1_700_000_000, 1_700_000_000))
    with sapwood.open(path) as file:
        path.chmod(0o600)
        os.link(path, tmp_path / "other")
        assert np.array_equal(file["t"].arrays(["b3"], library="np")["b3"], versions[3]["b3"])


def test_time_of_change_set_back(versions, tmp_path):
    path = tmp_path / "f.root"
    path.write_bytes(versions[1])
    os.utime(path, (1_700_000_000, 1_700_000_000))
    with sapwood.open(path) as file:
        tree = file["t"]
        rewrite(path, versions[2])
        os.utime(path, (1_700_000_000, 1_700_000_000))
        with pytest.raises(sapwood.CorruptError, match=CHANGED):
            tree.arrays(["b3"], library="np")


def test_a_histogram_of_a_file_that_changed(versions, tmp_path):
    path = tmp_path / "f.root"
    path.write_bytes(versions[1])
    with sapwood.open(path) as file:
        file.keys()
        rewrite(path, versions[2])
        with pytest.raises(sapwood.CorruptError, match=CHANGED):
            file["h"].values()


@pytest.mark.parametrize("rewrite", [sapwood.merge, sapwood.optimize])
def test_an_input_that_changes_while_it_is_rewritten(versions, tmp_path, rewrite):
    """Whenever the server begins to send the other file: all of one, or an error; no output is left behind an error."""
    _, old, new, values = versions
    with sapwood.open(versions[0] / "new.root") as file:
        others = file["t"].arrays(["b3"], library="np")["b3"]
    failed = 0
    for turn in itertools.count(1):
        with Scripted(old, lambda asked, _, turn=turn: good(asked, old if asked.number < turn else new)) as server:
            out = tmp_path / f"{turn}.root"
            try:
                if rewrite is sapwood.merge:
                    rewrite(out, [server.url()])
                else:
                    rewrite(server.url(), out)
            except sapwood.CorruptError:
                failed += 1
                assert not out.exists()
                continue
            with sapwood.open(out) as file:
                found = file["t"].arrays(["b3"], library="np")["b3"]
            # merging looks at its first input before it opens it
            assert np.array_equal(found, values["b3"]) or np.array_equal(found, others)
            if np.array_equal(found, values["b3"]):
                break
    assert failed >= 1


def test_a_file_that_is_still_written_may_grow(root_here, tmp_path):
    """What monitors a running job reads what was saved, while more is written behind it."""
    import subprocess
    import sys
    from pathlib import Path

    words = [sys.executable, "-W", "ignore", Path(__file__).parent / "unclosed.py", "write", tmp_path]
    subprocess.run(words, check=True, capture_output=True, timeout=300)
    path = tmp_path / "open.root"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = sapwood.open(path)
    with open(path, "ab") as more:
        more.write(bytes(5000))
    assert file["t"].arrays(["x"], library="np")["x"].tolist() == [i * 0.5 for i in range(1100)]


class Replicas:
    """A door that redirects to one server after the other, each with an ETag of its own."""

    def __init__(self, *contents):
        def replica(i, content):
            def answer(asked, data):
                if i in self.down:
                    raise OSError
                return good(asked, data, [("ETag", f'"{i}"')])

            return Scripted(content, answer)

        self.down = set()
        self.servers = [replica(i, content) for i, content in enumerate(contents)]
        self.door = Scripted(contents[0], self.redirect)

    def redirect(self, asked, data):
        i = next(i for i in range(len(self.servers)) if i not in self.down)
        place = self.servers[i].url("there.root")
        return f"HTTP/1.1 307 x\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in (self.door, *self.servers):
            server.stop()

    def fail(self, i):
        self.down.add(i)
        self.servers[i].stop()


def test_a_replica_with_another_etag_takes_over(versions):
    _, old, _, values = versions
    with Replicas(old, old) as replicas, sapwood.open(replicas.door.url(), cache_size="100 kB") as file:
        batches = file["t"].iterate(NAMES, step_size=1000, library="np")
        found = [next(batches)]
        replicas.fail(0)
        found.extend(batches)
        for name in NAMES:
            assert np.array_equal(np.concatenate([batch[name] for batch in found]), values[name])
        asked = replicas.servers[1].asked
        # its first bytes are looked at once, not with each request
        assert sum(a.ranges == [(0, 511)] for a in asked) == 1 and len(asked) > 3


def test_a_replica_of_another_version_does_not(versions):
    _, old, new, _ = versions
    for other, why in ((new, "first bytes differ"), (old + bytes(10), f"of {len(old) + 10} bytes")):
        with Replicas(old, other) as replicas, sapwood.open(replicas.door.url(), cache_size="100 kB") as file:
            batches = file["t"].iterate(NAMES, step_size=1000, library="np")
            next(batches)
            replicas.fail(0)
            with pytest.raises(sapwood.CorruptError, match=f"different file.*{why}"):
                list(batches)


def test_a_server_without_any_version(versions):
    """Neither ETag nor Last-Modified: it is said once, and the first bytes are compared when all has been read."""
    _, old, new, values = versions
    content = [old]
    with Scripted(old, lambda asked, _: good(asked, content[0])) as server:
        with pytest.warns(sapwood.UnverifiedFileWarning, match="no ETag, no Last-Modified") as caught:
            file = sapwood.open(server.url())
        tree = file["t"]
        assert np.array_equal(tree.arrays(["b1"], library="np")["b1"], values["b1"])
        assert len(caught) == 1
        content[0] = new
        with pytest.raises(sapwood.CorruptError, match=CHANGED):
            tree.arrays(["b3"], library="np")


def elsewhere():
    """An address of this machine that is not the loopback's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # nothing is sent
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no network")
        return probe.getsockname()[0]


def test_redirects_to_this_machine_from_elsewhere(versions, monkeypatch):
    _, old, _, values = versions
    tag = [("ETag", '"a"')]
    with Scripted(old, lambda asked, data: good(asked, data, tag)) as here:
        for place in (here.url(), here.url().replace("127.0.0.1", "localhost")):
            answer = f"HTTP/1.1 302 x\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode()
            with Scripted(old, lambda *_, answer=answer: answer, elsewhere()) as door:
                before = len(here.asked)
                with pytest.raises(sapwood.DeniedError, match=r"redirects to this machine .*insecure_redirects"):
                    sapwood.open(door.url())
                assert len(here.asked) == before
                tree = sapwood.open(door.url(), insecure_redirects=True)["t"]
                assert np.array_equal(tree.arrays(["b1"], library="np")["b1"], values["b1"])


def test_redirects_from_https_to_http(versions, tmp_path, monkeypatch):
    import ssl
    import subprocess

    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    words += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    subprocess.run(list(map(str, words)), check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    old = versions[1]
    with Scripted(old, lambda asked, data: good(asked, data, [("ETag", '"a"')])) as plain:
        answer = f"HTTP/1.1 302 x\r\nLocation: {plain.url()}\r\nContent-Length: 0\r\n\r\n".encode()
        with Scripted(old, lambda *_: answer, tls=tls) as door:
            read = "import sapwood, sys; print(len(sapwood.open(sys.argv[1])['t']['b1'].array()))"
            import sys

            environment = {**os.environ, "SSL_CERT_FILE": str(certificate), "BEARER_TOKEN": "s3cret"}
            words = [sys.executable, "-c", read, door.url()]
            done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60)
            assert "redirects from https to http://127.0.0.1" in done.stderr, done.stderr
            assert not plain.asked
            environment["SAPWOOD_INSECURE_REDIRECTS"] = "1"
            done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60)
            assert done.stdout.strip() == str(ENTRIES), done.stderr
            assert door.asked[-1].headers["authorization"] == "Bearer s3cret"
            assert all("authorization" not in asked.headers for asked in plain.asked)


def damaged(versions, size):
    """A file whose list of keys is gone, and behind it zeros up to a size."""
    old = bytearray(versions[1])
    with sapwood.open(versions[0] / "old.root") as file:
        assert file.keys()
    end = int.from_bytes(old[12:16], "big")
    # fSeekKeys of the top directory leads nowhere
    begin = int.from_bytes(old[8:12], "big")
    name = int.from_bytes(old[begin + 14 : begin + 16], "big")
    record = begin + name + 1 + len("old.root") + 1
    old[record + 26 : record + 30] = (end - 5).to_bytes(4, "big")
    return bytes(old) + bytes(size - len(old))


def test_a_damaged_file_far_away_is_walked_over_only_when_asked(versions, command, run, public):
    where = public / "damaged"
    where.mkdir()
    (where / "small.root").write_bytes(damaged(versions, 8_000_000))
    with open(where / "large.root", "wb") as file:
        file.write(damaged(versions, 8_000_000))
        file.truncate(80_000_000)
    asked = []

    def answer(request, data):
        asked.append(sum(b - a + 1 for a, b in request.ranges))
        return good(request, data, [("ETag", '"a"')])

    for name, recovered in (("small", True), ("large", False)):
        data = (where / f"{name}.root").read_bytes()
        with Scripted(data, answer) as server:
            asked.clear()
            done = run("ls", server.url())
            if recovered:
                assert done.returncode == 0 and "\tt" in done.stdout.replace(" ", "\t"), (done.stdout, done.stderr)
                continue
            assert done.returncode == 1 and "--recover" in done.stderr and "80 MB" in done.stderr, done.stderr
            assert sum(asked) < 2_000_000
            with pytest.raises(sapwood.CorruptError, match="recover=True"):
                sapwood.open(server.url())
            assert run("ls", "--recover", server.url()).returncode == 0
            with pytest.warns(sapwood.RecoveredFileWarning):
                found = sapwood.open(server.url(), recover=True)
            assert found["t"].num_entries == ENTRIES
    # on this machine it is quick
    with pytest.warns(sapwood.RecoveredFileWarning):
        assert sapwood.open(where / "large.root")["t"].num_entries == ENTRIES
