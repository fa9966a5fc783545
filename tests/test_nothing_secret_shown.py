"""User, password and tokens of a URL never show: not in what verbs print, nor in errors, warnings and files."""

import json

import numpy as np
import pytest
from scripted_http import Scripted, good

import sapwood

SECRETS = ("S3CRETPW", "TOKSECRET")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = tmp_path_factory.mktemp("secret") / "a.root"
    with sapwood.recreate(path) as out:
        tree = out.mktree("t", {"x": "f8"}, auto_flush=1000, optimize_baskets=False, basket_size="8 kB")
        tree.extend({"x": np.arange(20_000.0)})
    data = path.read_bytes()
    with Scripted(data, good) as server:
        yield server


@pytest.fixture(scope="module")
def url(server):
    return server.url("a.root").replace("://", "://us:S3CRETPW@") + "?authz=TOKSECRET"


def is_clean(*texts):
    return not any(secret in text for secret in SECRETS for text in texts)


@pytest.mark.parametrize("words", ["ls", "show", "doctor", "doctor --deep", "map", "perf", "scan", "draw"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_what_is_read(run, url, words, form):
    target = [url + ":t", "x"] if words in ("scan", "draw") else [url]
    done = run(*words.split(), *target, *form)
    assert done.returncode == 0 and is_clean(done.stdout, done.stderr), (done.stdout, done.stderr)


@pytest.mark.parametrize(
    "words", ["merge URL FILE", "optimize FILE URL", "recover FILE URL", "serve URL", "draw FILE:t x -o URL"]
)
def test_a_url_where_only_files_go(run, url, words, tmp_path):
    path = tmp_path / "local.root"
    with sapwood.recreate(path) as out:
        out["t"] = {"x": [1.0]}
    done = run(*words.replace("URL", url).replace("FILE", str(path)).split())
    assert done.returncode != 0 and is_clean(done.stdout, done.stderr), done.stderr
    assert "directory first" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    "bad",
    [
        "http://us:x/S3CRETPW@127.0.0.1:1/a",
        "http://us:x?S3CRETPW@127.0.0.1:1/a",
        "root://us:x/S3CRETPW@127.0.0.1:1//a",
        " http://us:S3CRETPW@127.0.0.1:1/a?authz=TOKSECRET",
    ],
)
def test_a_bad_url(run, bad):
    done = run("ls", bad)
    assert done.returncode == 1 and "bad URL" in done.stderr and is_clean(done.stderr), done.stderr
    with pytest.raises(sapwood.InvalidError) as refused:
        sapwood.open(bad)
    assert is_clean(str(refused.value), repr(vars(refused.value)))


def test_a_proxy_whose_password_holds_a_slash(run):
    done = run("ls", "http://far.invalid/a", env={"http_proxy": "http://us:x/S3CRETPW@127.0.0.1:1"})
    assert done.returncode == 1 and "proxy" in done.stderr and is_clean(done.stderr), done.stderr


def test_python_errors(url):
    for attempt in (sapwood.update, sapwood.recreate, sapwood.create):
        with pytest.raises(sapwood.InvalidError) as refused:
            attempt(url)
        assert is_clean(str(refused.value), repr(vars(refused.value)))
    with sapwood.open(url) as file:
        assert is_clean(repr(file), repr(file["t"]))
    report = sapwood.doctor(url)
    assert is_clean(str(report), repr(report), json.dumps(getattr(report, "data", {}), default=str))


def test_a_recovery_that_loses_something(server, url, tmp_path):
    data = bytearray(server.data)
    data[1000:1500] = bytes(500)
    with Scripted(bytes(data), good) as damaged:
        url = url.replace(str(server.port), str(damaged.port))
        with pytest.warns(sapwood.RecoveredFileWarning) as caught:
            sapwood.recover(url, tmp_path / "whole.root")
    assert is_clean(*(str(w.message) for w in caught), (tmp_path / "whole.root").read_bytes().decode("latin1"))
