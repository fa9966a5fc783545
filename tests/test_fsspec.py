"""fsspec both ways: Sapwood as its file system, and files that it or Python has opened."""

import io
import pickle
import threading
import zipfile

import awkward as ak
import fsspec
import pytest
import uproot

import sapwood
from sapwood.filesystem import SapwoodFileSystem


@pytest.fixture
def contents(flat):
    with open(flat, "rb") as file:
        return file.read()


def same(tree, flat):
    return ak.array_equal(tree.arrays(library="ak"), sapwood.open(flat)["t"].arrays(library="ak"))


def test_read_from_bytes_in_memory(flat, contents):
    file = sapwood.open(io.BytesIO(contents))
    assert file.file_path == "<BytesIO>" and file.size == len(contents)
    assert same(file["t"], flat)


def test_an_object_in_a_file_object(flat, contents):
    assert same(sapwood.open({io.BytesIO(contents): "t"}), flat)


def test_a_file_of_python_is_read_by_its_path(flat):
    with open(flat, "rb") as file:
        opened = sapwood.open(file)
        assert opened.file_path == flat
        assert same(opened["t"], flat)
        assert not file.closed and file.tell() == 0


def test_a_file_that_lost_its_name(tmp_path, flat, contents):
    path = tmp_path / "gone.root"
    path.write_bytes(contents)
    with open(path, "rb") as file:
        path.unlink()
        opened = sapwood.open(file)
        assert opened.file_path.startswith("<BufferedReader")
        assert same(opened["t"], flat)


def test_a_file_in_a_zip(tmp_path, flat):
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        archive.write(flat, "flat.root")
    with zipfile.ZipFile(tmp_path / "some.zip") as archive, archive.open("flat.root") as file:
        assert same(sapwood.open(file)["t"], flat)


@pytest.mark.parametrize("how", ["open file", "OpenFile"])
def test_a_file_of_fsspec(flat, contents, how):
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/fsspec/flat.root", contents)
    of = fsspec.open("memory://fsspec/flat.root") if how == "OpenFile" else memory.open("/fsspec/flat.root")
    file = sapwood.open(of)
    assert file.file_path == "<MemoryFileSystem /fsspec/flat.root>"
    assert same(file["t"], flat)


def test_a_compressed_file_of_fsspec(tmp_path, flat, contents):
    import gzip

    (tmp_path / "flat.root.gz").write_bytes(gzip.compress(contents))
    assert same(sapwood.open(fsspec.open(str(tmp_path / "flat.root.gz"), compression="gzip"))["t"], flat)


def test_one_that_is_read_by_threads_at_once(flat, contents):
    file = sapwood.open(io.BytesIO(contents))
    results = []
    threads = [threading.Thread(target=lambda: results.append(same(file["t"], flat))) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == [True] * 8


def test_pickled(flat, contents):
    assert same(pickle.loads(pickle.dumps(sapwood.open(io.BytesIO(contents))))["t"], flat)


def test_few_calls_for_many_baskets(flat, contents):
    asked = []

    class Counted(io.BytesIO):
        def read(self, size=-1):
            asked.append(size)
            return super().read(size)

    assert same(sapwood.open(Counted(contents))["t"], flat)
    assert len(asked) < 20


class Failing(io.BytesIO):
    """Reads well until `at`, then as `how` does."""

    def __init__(self, contents, how):
        super().__init__(contents)
        self.how = how

    def read(self, size=-1):
        return self.how(super().read(size)) if self.tell() > 2000 else super().read(size)


def fails(_):
    raise RuntimeError("the disk is on fire")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (fails, "RuntimeError: the disk is on fire"),
        (lambda part: part[:10], "returned 10 bytes instead of"),
        (lambda part: part + b"x", "bytes instead of"),
        (lambda part: "text", "sequence item 0|bytes|encoding"),
    ],
    ids=["raises", "short", "long", "text"],
)
def test_what_a_file_object_does_wrong(contents, how, words):
    with pytest.raises(sapwood.Error, match=words):
        sapwood.open(Failing(contents, how))["t"].arrays(library="np")


def test_a_file_object_that_was_closed(contents):
    given = io.BytesIO(contents)
    file = sapwood.open(given)
    given.close()
    with pytest.raises(sapwood.Error, match="closed file"):
        file["t"].arrays(library="np")


def test_text_files_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("text")
    with open(tmp_path / "a.txt") as file, pytest.raises(sapwood.InvalidError, match="binary mode"):
        sapwood.open(file)
    with pytest.raises(sapwood.InvalidError, match="binary mode"):
        sapwood.open(io.StringIO("text"))


def test_what_cannot_seek_is_refused():
    class Pipe(io.RawIOBase):
        def readable(self):
            return True

    with pytest.raises(sapwood.InvalidError, match="cannot seek"):
        sapwood.open(Pipe())


def test_missing_in_fsspec():
    with pytest.raises(FileNotFoundError, match=r"nothing\.root"):
        sapwood.open(fsspec.open("memory://nothing.root"))


def test_no_root_file_in_memory():
    with pytest.raises(sapwood.Error, match="BytesIO"):
        sapwood.open(io.BytesIO(b"no such thing" * 100))
    with pytest.raises(sapwood.Error, match="BytesIO"):
        sapwood.open(io.BytesIO())


# Sapwood as a file system


@pytest.fixture(params=["sapwood://", "sapwood::"])
def notation(request, server):
    """fsspec imports its own file system for what is behind "::"."""
    if request.param == "sapwood::" and server.scheme in ("root", "roots"):
        pytest.importorskip("fsspec_xrootd")
    return request.param


def test_found_by_its_entry_point():
    assert fsspec.get_filesystem_class("sapwood") is SapwoodFileSystem


def test_any_server_through_the_file_system(server, flat, contents, notation):
    url = notation + server.url(flat)
    with fsspec.open(url) as file:
        assert file.read(4) == b"root"
        file.seek(-10, 2)
        assert file.read() == contents[-10:]
    fs, path = fsspec.core.url_to_fs(url)
    assert isinstance(fs, SapwoodFileSystem)
    assert fs.size(path) == len(contents) and fs.isfile(path) and not fs.isdir(path)
    assert fs.cat_file(path) == contents
    ranges = [(0, 10), (500, 700), (len(contents) - 5, len(contents)), (-5, None), (3, 3)]
    starts, ends = zip(*ranges, strict=True)
    assert fs.cat_ranges([path] * len(ranges), starts, ends) == [contents[a:b] for a, b in ranges]


def test_uproot_reads_through_it(server, flat, notation):
    values = uproot.open({notation + server.url(flat): "t"}).arrays(["x", "jagged"], library="ak")
    assert ak.array_equal(values, sapwood.open(flat)["t"].arrays(["x", "jagged"], library="ak"))


def test_ranges_of_one_file_are_one_request(nginx, flat):
    fs = fsspec.filesystem("sapwood", skip_instance_cache=True)
    url = nginx.url(flat)
    size = fs.size(url)
    before = len(nginx.requests())
    ranges = [(start, start + 10) for start in range(size // 4, size // 2, 3000)]
    starts, ends = zip(*ranges, strict=True)
    fs.cat_ranges([url] * len(ranges), list(starts), list(ends))
    assert len(nginx.requests()) - before == 1


def test_local_files(tmp_path, contents):
    (tmp_path / "a.root").write_bytes(contents)
    fs = fsspec.filesystem("sapwood")
    assert fs.cat_file(str(tmp_path / "a.root"), 0, 4) == b"root"
    assert fs.ls(str(tmp_path), detail=False) == [str(tmp_path / "a.root")]
    assert fs.isdir(str(tmp_path)) and not fs.exists(str(tmp_path / "b.root"))
    with fsspec.open(f"sapwood::file://{tmp_path}/a.root") as file:
        assert file.read() == contents


def test_it_only_reads(tmp_path):
    with pytest.raises(NotImplementedError, match="only reads"):
        fsspec.filesystem("sapwood").open(str(tmp_path / "a.root"), "wb")


def test_missing_file_through_it(server, flat):
    fs = fsspec.filesystem("sapwood")
    url = server.url(flat).replace("flat-zlib", "nothing")
    with pytest.raises(FileNotFoundError):
        fs.cat_file(url)
    assert not fs.exists(url)


def test_a_replaced_file_is_read_again(tmp_path, contents):
    path = tmp_path / "a.bin"
    path.write_bytes(b"a" * 5000)
    fs = fsspec.filesystem("sapwood")
    assert fs.cat_file(str(path), 0, 1) == b"a"
    path.unlink()
    path.write_bytes(b"b" * 6000)
    fs.invalidate_cache()
    assert fs.size(str(path)) == 6000 and fs.cat_file(str(path), 0, 1) == b"b"


def test_a_changed_file_is_an_error_once(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"a" * 100_000)
    fs = fsspec.filesystem("sapwood")
    assert fs.cat_file(str(path), 0, 1) == b"a"
    path.write_bytes(b"b" * 90_000)
    with pytest.raises(sapwood.Error, match=r"changed|truncated|beyond the end"):
        fs.cat_file(str(path), 50_000, 99_000)
    assert fs.cat_file(str(path), 50_000) == b"b" * 40_000
