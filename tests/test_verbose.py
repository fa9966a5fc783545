"""-v, -vv and SAPWOOD_LOG print what happens on the network, and no credential."""

import os

import numpy as np
import pytest
from scripted_http import Scripted, good, whole

import sapwood

TAG = [("ETag", '"a"')]
SECRETS = ("S3CRETPW", "TOKSECRET", "BEARERSECRET", "UzNDUkVUUFc")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("verbose") / "a.root"
    with sapwood.recreate(path) as out:
        tree = out.mktree("t", {"x": "f8"}, auto_flush=1000, optimize_baskets=False, basket_size="8 kB")
        tree.extend({"x": np.random.default_rng(1).random(400_000)})
    return path.read_bytes()


@pytest.fixture
def url(data):
    """A server that redirects to another, which fails four times and then serves single ranges only.

    Both URLs have a password and a token."""
    failed = []

    def moved(asked, _):
        return whole(
            "302 Found", [("Location", target.url("b.root").replace("://", "://us:S3CRETPW@") + "?authz=TOKSECRET")]
        )

    def serve(asked, data):
        if len(asked.ranges) > 1:
            return whole("200 OK", TAG, data)
        if len(failed) < 4:
            failed.append(True)
            return whole("503 Service Unavailable", [("Retry-After", "0")])
        return good(asked, data, TAG)

    with Scripted(data, serve) as target, Scripted(data, moved) as door:
        yield door.url("a.root").replace("://", "://us:S3CRETPW@") + "?authz=TOKSECRET"


def logged(run, url, *words, **variables):
    done = run("ls", url, *words, env={**os.environ, "BEARER_TOKEN": "BEARERSECRET", **variables})
    assert done.returncode == 0, done.stderr
    assert not any(secret in done.stdout + done.stderr for secret in SECRETS), done.stderr
    return done.stderr


def test_nothing_is_logged_unless_asked(run, url):
    assert logged(run, url) == ""
    assert logged(run, url, SAPWOOD_LOG="off") == ""


def test_verbose_prints_redirects_retries_and_fall_backs(run, url):
    text = logged(run, url, "-v")
    assert " s: redirect from=http://127.0.0.1" in text
    assert " s: fall back url=" in text
    assert " s: retry error=" in text
    assert " s: back to the first server to=" in text
    assert "debug" not in text
    assert "b.root?authz=" in text, "the rest of the URL is shown"


def test_more_verbose_prints_connections_and_requests(run, url):
    text = logged(run, url, "-vv")
    assert 'debug: connected host="127.0.0.1"' in text
    assert "debug: request url=http://127.0.0.1" in text
    assert 'bytes="bytes=0-' in text
    assert "status=302" in text
    assert "debug: request" in logged(run, url, SAPWOOD_LOG="debug")


def test_an_unknown_level_is_refused(run, url):
    done = run("ls", url, env={**os.environ, "SAPWOOD_LOG": "loud"})
    assert done.returncode == 2
    assert "SAPWOOD_LOG must be off, info or debug" in done.stderr
