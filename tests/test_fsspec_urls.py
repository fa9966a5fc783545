"""URLs that only fsspec can open, and file systems that misbehave."""

import asyncio
import os
import pickle
import threading
import uuid
import zipfile

import awkward as ak
import fsspec
import pytest
from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.registry import known_implementations

import sapwood


@pytest.fixture
def contents(flat):
    with open(flat, "rb") as file:
        return file.read()


@pytest.fixture
def memory(contents):
    """A URL of a file in fsspec's memory."""
    name = f"/{uuid.uuid4().hex}.root"
    fsspec.filesystem("memory").pipe_file(name, contents)
    yield f"memory:/{name}"
    fsspec.filesystem("memory").rm_file(name)


def same(tree, flat):
    return ak.array_equal(tree.arrays(library="ak"), sapwood.open(flat)["t"].arrays(library="ak"))


class Slow(AsyncFileSystem):
    """An asynchronous file system over one file. `trouble`: what becomes of the data of a read."""

    protocol = "sapwood-test"
    cachable = False
    data, reads, trouble, etag = b"", 0, None, "1"

    async def _info(self, path, **_):
        await asyncio.sleep(0.001)
        if path.endswith("absent.root"):
            raise FileNotFoundError(path)
        return {"name": path, "size": len(self.data), "type": "file", "ETag": self.etag}

    async def _get_file(self, rpath, lpath, **_):
        with open(lpath, "wb") as file:
            file.write(self.data)

    async def _cat_file(self, path, start=None, end=None, **_):
        await asyncio.sleep(0.001)
        type(self).reads += 1
        part = self.data[start:end]
        return type(self).trouble(self.reads, part) if type(self).trouble else part


@pytest.fixture
def slow(contents):
    fsspec.register_implementation("sapwood-test", Slow, clobber=True)
    Slow.data, Slow.reads, Slow.trouble, Slow.etag = contents, 0, None, "1"
    yield "sapwood-test://store/f.root"
    Slow.trouble = None


def test_a_url_in_memory(memory, flat):
    file = sapwood.open(memory)
    assert same(file["t"], flat)
    assert "MemoryFileSystem" in file.file_path
    assert same(sapwood.open(f"{memory}:t"), flat)
    assert same(sapwood.open({memory: "t"}), flat)


def test_pickled_it_opens_again(memory, flat):
    assert same(pickle.loads(pickle.dumps(sapwood.open(memory)))["t"], flat)


def test_an_asynchronous_file_system(slow, flat):
    assert same(sapwood.open(slow)["t"], flat)


def test_in_worker_threads_and_within_a_running_event_loop(slow, flat):
    results = []

    def read():
        results.append(same(sapwood.open(slow)["t"], flat))

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    async def within():
        return same(sapwood.open(slow)["t"], flat)

    assert results == [True] * 6 and asyncio.run(within())


def test_one_made_for_another_event_loop(slow, flat):
    fs = Slow(asynchronous=True)
    opened = sapwood.open(fsspec.core.OpenFile(fs, "store/f.root"))
    assert same(opened["t"], flat)


def test_within_fsspecs_own_event_loop_it_is_refused_and_does_not_hang(slow):
    async def within():
        sapwood.open(slow)

    with pytest.raises(sapwood.InvalidError, match="event loop"):
        fsspec.asyn.sync(fsspec.asyn.get_loop(), within, timeout=60)


def test_after_fork(slow, flat):
    file = sapwood.open(slow)
    assert same(file["t"], flat)
    child = os.fork()
    if child == 0:
        ended = 1
        try:
            ended = 0 if same(sapwood.open(slow)["t"], flat) else 2
        finally:
            os._exit(ended)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_other_threads_run_while_it_waits(slow):
    waits, ran = threading.Event(), threading.Event()

    def wait(_, part):
        waits.set()
        # only another thread, which needs the interpreter's lock, ends this
        assert ran.wait(60)
        return part

    def run():
        waits.wait(60)
        ran.set()

    Slow.trouble = staticmethod(wait)
    other = threading.Thread(target=run)
    other.start()
    sapwood.open(slow)
    other.join(60)
    assert ran.is_set()


def test_short_data_are_an_error(slow):
    tree = sapwood.open(slow)["t"]
    Slow.trouble = staticmethod(lambda _, part: part[:-1])
    with pytest.raises(sapwood.Error, match="bytes instead of"):
        tree.arrays()


def test_an_exception_in_the_middle_is_told(slow):
    tree = sapwood.open(slow)["t"]

    def fail(*_):
        raise OSError("the store sleeps")

    Slow.trouble = staticmethod(fail)
    with pytest.raises(sapwood.ReadError, match="the store sleeps"):
        tree.arrays()


def test_a_file_that_gets_another_etag_is_an_error(slow):
    tree = sapwood.open(slow)["t"]
    Slow.etag = "2"
    with pytest.raises(sapwood.CorruptError, match=r"changed while it was being read \(ETag\)"):
        tree.arrays()


def test_a_file_with_other_first_bytes_is_an_error(slow, contents):
    tree = sapwood.open(slow)["t"]
    Slow.data = contents[:50] + b"\0" + contents[51:]
    with pytest.raises(sapwood.CorruptError, match=r"changed while it was being read \(first bytes\)"):
        tree.arrays()


def test_a_file_in_memory_that_is_replaced_is_an_error(memory, contents):
    tree = sapwood.open(memory)["t"]
    fsspec.filesystem("memory").pipe_file(memory.removeprefix("memory:/"), contents + b"x")
    with pytest.raises(sapwood.Error, match=r"changed|instead of"):
        tree.arrays()


def test_files_that_are_not_there(memory, slow):
    for url in ("memory://absent.root", "sapwood-test://store/absent.root"):
        with pytest.raises(sapwood.FileMissingError):
            sapwood.open({url: None})


def test_one_behind_a_cache_of_fsspecs(slow, flat, tmp_path):
    options = {"simplecache": {"cache_storage": str(tmp_path)}}
    assert same(sapwood.open(f"simplecache::{slow}", storage_options=options)["t"], flat)


def test_a_file_in_a_zip_by_its_url(tmp_path, flat):
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        archive.write(flat, "flat.root")
    assert same(sapwood.open(f"zip://flat.root::{tmp_path}/some.zip")["t"], flat)


def test_options_of_the_file_system(memory, flat):
    assert same(sapwood.open(memory, storage_options={"use_listings_cache": False})["t"], flat)
    with pytest.raises(sapwood.InvalidError, match="storage_options are for"):
        sapwood.open(flat, storage_options={"x": 1})
    with pytest.raises(sapwood.InvalidError, match="storage_options are for"):
        sapwood.open("http://127.0.0.1:9/x.root", storage_options={"x": 1})


def test_schemes_that_nobody_knows(monkeypatch):
    with pytest.raises(sapwood.InvalidError, match="unsupported URL scheme gopher"):
        sapwood.open({"gopher://h/a.root": None})


def test_a_library_that_is_missing_is_named():
    known_implementations["sapwood-missing"] = {"class": "no_such_library.FileSystem", "err": "install no-such-library"}
    with pytest.raises(sapwood.MissingLibraryError, match="install no-such-library"):
        sapwood.open({"sapwood-missing://h/a.root": None})


def test_directories_are_refused(tmp_path):
    memory = MemoryFileSystem()
    memory.makedirs("/folder-of-sapwood", exist_ok=True)
    with pytest.raises(sapwood.InvalidError, match="is a directory"):
        sapwood.open({"memory://folder-of-sapwood": None})
