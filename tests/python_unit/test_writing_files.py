"""Where files are written, and by whom: links, devices, permissions, forked children, files that are given up."""

import os
import socket
import stat

import numpy as np
import pytest

import sapwood


def write(path):
    with sapwood.recreate(path) as file:
        file["t"] = {"x": [1, 2]}


def test_only_files_are_replaced(tmp_path):
    pipe, named = tmp_path / "pipe", tmp_path / "socket"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as held:
        held.bind(str(named))
        for path in (pipe, named):
            for begin in (sapwood.recreate, sapwood.update):
                with pytest.raises(sapwood.InvalidError, match="not a file"):
                    begin(path)
        assert stat.S_ISFIFO(pipe.stat().st_mode) and stat.S_ISSOCK(named.stat().st_mode)
    with pytest.raises(sapwood.InvalidError, match="not the name of a file"):
        sapwood.recreate(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["pipe", "socket"]


def test_links_and_permissions_stay(tmp_path):
    real, link, loose = tmp_path / "real.root", tmp_path / "link.root", tmp_path / "loose.root"
    real.touch(0o600)
    link.symlink_to("real.root")
    loose.symlink_to("later.root")
    write(link)
    write(loose)
    assert link.is_symlink() and loose.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    for name in ("real.root", "later.root"):
        assert sapwood.open(tmp_path / name)["t"].num_entries == 2
    assert len(list(tmp_path.iterdir())) == 4


def test_long_names_and_another_working_folder(tmp_path, monkeypatch):
    write(tmp_path / ("n" * 245 + ".root"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "below").mkdir()
    file = sapwood.recreate("a.root")
    file["t"] = {"x": [1]}
    monkeypatch.chdir(tmp_path / "below")
    file.close()
    assert (tmp_path / "a.root").exists() and not list((tmp_path / "below").iterdir())


@pytest.mark.parametrize("begin", [sapwood.recreate, sapwood.update])
def test_a_forked_child_does_not_finish_its_parent_s_file(tmp_path, begin):
    path = tmp_path / "a.root"
    write(path)
    was = path.read_bytes()
    file = begin(path)
    tree = file.mktree("u", {"x": "i4"})
    tree.extend({"x": [1]})
    # enough for threads, which a child has not
    file["large"] = {"x": np.arange(1_000_000.0)}
    child = os.fork()
    if child == 0:
        refused = 0
        try:
            tree.extend({"x": [7]})
        except sapwood.InvalidError:
            refused += 1
        try:
            file["v"] = {"x": [7]}
        except sapwood.InvalidError:
            refused += 1
        file.close()
        try:
            # not even a panic when it goes
            del tree, file
        except BaseException:
            refused = 0
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    if begin is sapwood.recreate:
        assert path.read_bytes() == was
    tree.extend({"x": [2]})
    file.close()
    assert sapwood.open(path)["u"]["x"].array(library="np").tolist() == [1, 2]


@pytest.mark.parametrize("begin", [sapwood.recreate, sapwood.update])
def test_what_failed_is_let_go_at_once(tmp_path, begin):
    path = tmp_path / "a.root"
    write(path)
    was = path.read_bytes()

    def fail():
        with begin(path) as file:
            trees = [file.mktree("new", {"x": "f8"})]
            trees[0].extend({"x": np.arange(100_000.0)})
            if begin is sapwood.update:
                trees.append(file["t"])
            held.extend(trees)
            raise KeyboardInterrupt

    held = []
    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == was and list(tmp_path.iterdir()) == [path]
    with sapwood.update(path) as again:
        again["u"] = {"x": [1]}
    for tree in held:
        with pytest.raises(sapwood.InvalidError, match="closed"):
            tree.extend({"x": [1]})


def test_names_that_no_path_leads_to(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        file["c"] = {"x": [1]}
        file["d/e"] = {"x": [1]}
        for name, words in (
            ("c/d", "is a tree"),
            ("d", "is already a directory"),
            ("../x", "of a path"),
            ("d/..", "of a path"),
        ):
            with pytest.raises(sapwood.InvalidError, match=words):
                file[name] = {"x": [1]}
            with pytest.raises(sapwood.InvalidError, match=words):
                file[name] = "text"
    assert sorted(sapwood.open(tmp_path / "a.root").keys()) == ["c;1", "d/e;1", "d;1"]


def test_names_and_titles_are_unicode_and_cycles_numbers(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        bad = "a\ud800"
        for fails in (
            lambda: file.mktree(bad, {"x": "i4"}),
            lambda: file.mktree("t", {"x": "i4"}, title=bad),
            lambda: file.mktree("t", {bad: "i4"}),
            lambda: file.__setitem__("s", bad),
            lambda: file.mkdir(bad),
            lambda: sapwood.recreate(tmp_path / "b.root", title=bad),
        ):
            with pytest.raises(sapwood.InvalidError, match="Unicode"):
                fails()
        file["s"] = "text"
        for cycle in ("x", "-1", "70000"):
            with pytest.raises(sapwood.InvalidError, match="cycle"):
                del file[f"s;{cycle}"]
        del file["s;1"]
