"""Objects in S3 stores, against a real server, and against a scripted one for what no server does on demand."""

import http.client
import json
import os
import pickle
import re
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from urllib.parse import quote

import awkward as ak
import fsspec
import pytest
from s3_signing import is_signed, put
from scripted_http import Scripted, good, whole
from servers import S3_KEYS as KEYS

import sapwood

#: A key with characters that have a meaning in URLs, and how a URL names it.
ODD, ODD_URL = "run 1/b+%?ü#&.root", "run 1/b+%25%3Fü#&.root"


@pytest.fixture(scope="module")
def contents(flat):
    with open(flat, "rb") as file:
        return file.read()


@pytest.fixture(scope="module")
def filled(s3_server, contents):
    """The server with objects in two buckets."""
    for bucket in ("data", "my.dotted.bucket"):
        put(s3_server.port, bucket, "", b"", KEYS)
    for key in ("a.root", "run 1/1.root", "run 1/2.root", ODD, "empty"):
        put(s3_server.port, "data", key, b"" if key == "empty" else contents, KEYS)
    put(s3_server.port, "my.dotted.bucket", "a.root", contents, KEYS)
    return s3_server


@pytest.fixture
def bucket(s3, filled):
    """The server with its objects, and the environment that leads to it."""
    return filled


def asked(server):
    """Requests so far: their operations, in order. The log is written before the response is sent."""
    return re.findall(r" s3_(\w+) ", server.log.read_text())


def same(tree, flat):
    return ak.array_equal(tree.arrays(library="ak"), sapwood.open(flat)["t"].arrays(library="ak"))


@pytest.mark.parametrize("url", ["s3://data/a.root", f"s3://data/{ODD_URL}", "s3://my.dotted.bucket/a.root"])
def test_values_of_an_object(bucket, flat, url):
    assert same(sapwood.open(url)["t"], flat)


def test_an_object_in_it_by_name(bucket, flat):
    assert sapwood.open("s3://data/a.root:t").num_entries == sapwood.open(flat)["t"].num_entries


def test_opening_takes_two_requests_at_once_and_nothing_else(bucket, tmp_path):
    with sapwood.recreate(tmp_path / "small.root") as out:
        out["t"] = {"x": list(range(100_000))}
    put(bucket.port, "data", "two.root", (tmp_path / "small.root").read_bytes(), KEYS)
    before = len(asked(bucket))
    cost = sapwood.open({"s3://data/two.root": None}).io()
    assert asked(bucket)[before:] == ["GetObject", "GetObject"]
    # one for the connection, if there is none yet, and one for both
    assert cost["requests"] == 2 and cost["round_trips"] <= 2 + cost["connections"]


def test_listing(bucket, run):
    done = run("ls", "--json", "s3://data/")
    found = {e["name"]: (e["directory"], e["bytes"]) for e in json.loads(done.stdout)["entries"]}
    assert found["run 1"] == (True, 0) and found["a.root"][1] > 0 and not found["a.root"][0]
    names = [e["name"] for e in json.loads(run("ls", "--json", "s3://data/run 1").stdout)["entries"]]
    assert names == ["1.root", "2.root", "b+%?ü#&.root"]
    assert run("ls", "s3://data").stdout == run("ls", "s3://data/").stdout
    none = run("ls", "s3://data/absent/")
    assert none.returncode == 1 and "no object below this prefix" in none.stderr


def test_more_objects_than_one_page_of_a_listing(bucket, run):
    folder = bucket.folder / "data" / "many"
    if not folder.exists():
        folder.mkdir()
        for i in range(1100):
            (folder / f"{i:04}").touch()
    entries = json.loads(run("ls", "--json", "s3://data/many/").stdout)["entries"]
    assert [e["name"] for e in entries] == [f"{i:04}" for i in range(1100)]


def test_globs_and_chains(bucket, flat):
    entries = sapwood.open(flat)["t"].num_entries
    chain = sapwood.chain("s3://data/run*/*.root:t")
    assert chain.num_entries == 3 * entries
    assert len(sapwood.concatenate("s3://data/run*/1*.root:t")) == entries


def test_draws_and_merges(bucket, run, tmp_path, flat):
    branch = next(b for b in sapwood.open(flat)["t"].keys())
    near, far = (run("draw", "--json", f"{where}:t", branch) for where in (flat, "s3://data/a.root"))
    assert far.returncode == 0 and json.loads(near.stdout)["histogram"] == json.loads(far.stdout)["histogram"]
    out = tmp_path / "merged.root"
    done = run("merge", out, "s3://data/a.root", "s3://data/run 1/1.root")
    assert done.returncode == 0, done.stderr
    assert sapwood.open(out)["t"].num_entries == 2 * sapwood.open(flat)["t"].num_entries


def test_options_of_a_url_and_of_the_command(s3_server, filled, no_aws, run, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS[1])
    at = f"http://127.0.0.1:{s3_server.port}"
    assert run("ls", f"s3://data/a.root?endpoint={at}").returncode == 0
    assert run("ls", "s3://data/a.root", "--s3-endpoint", at).returncode == 0
    assert run("ls", "s3://data/a.root", "--s3-endpoint", at, "--s3-region", "eu-west-1").returncode == 0
    assert run("ls", "s3://data/a.root", "--s3-endpoint", "127.0.0.1:9").returncode == 1


def test_storage_options(s3_server, filled, no_aws, flat):
    at = f"http://127.0.0.1:{s3_server.port}"
    options = {"endpoint_url": at, "key": KEYS[0], "secret": KEYS[1]}
    file = sapwood.open("s3://data/a.root", storage_options=options)
    assert same(file["t"], flat)
    assert KEYS[1] not in repr(file._options)
    assert same(pickle.loads(pickle.dumps(file))["t"], flat)
    of_s3fs = {"key": KEYS[0], "secret": KEYS[1], "client_kwargs": {"endpoint_url": at, "region_name": "us-east-1"}}
    assert sapwood.open("s3://data/a.root", storage_options=of_s3fs).size == file.size
    with pytest.raises(sapwood.InvalidError, match="storage_options for s3:// has no 'endpont'"):
        sapwood.open("s3://data/a.root", storage_options={"endpont": at})
    with pytest.raises(sapwood.InvalidError, match="both key and secret"):
        sapwood.open("s3://data/a.root", storage_options={"key": "K"})
    with pytest.raises(sapwood.DeniedError):
        sapwood.open("s3://data/a.root", storage_options={"endpoint": at, "anon": True})


def test_profiles(s3_server, filled, no_aws, run, monkeypatch):
    at = f"http://127.0.0.1:{s3_server.port}"
    with open(os.environ["AWS_CONFIG_FILE"], "w") as config:
        config.write(f"[profile lab]\nregion = us-east-1\nendpoint_url = {at}\n")
        config.write(f"[profile made]\nendpoint_url = {at}\ncredential_process = printf '%s' ")
        keys = {"Version": 1, "AccessKeyId": KEYS[0], "SecretAccessKey": KEYS[1]}
        config.write(f"'{json.dumps(keys)}'\n[profile browser]\nsso_session = x\n")
    with open(os.environ["AWS_SHARED_CREDENTIALS_FILE"], "w") as secrets:
        secrets.write(f"[lab]\naws_access_key_id = {KEYS[0]}\naws_secret_access_key = {KEYS[1]}\n")
    for profile in ("lab", "made"):
        monkeypatch.setenv("AWS_PROFILE", profile)
        assert run("ls", "s3://data/a.root").returncode == 0, profile
        assert sapwood.open({"s3://data/a.root": None}).size
    monkeypatch.delenv("AWS_PROFILE")
    assert sapwood.open({"s3://data/a.root?profile=lab": None}).size
    for profile, why in [("absent", "no profile"), ("browser", "export-credentials")]:
        done = run("ls", f"s3://data/a.root?profile={profile}")
        assert done.returncode == 1 and why in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("url", "error", "words"),
    [
        ("s3://data/none.root", sapwood.FileMissingError, "NoSuchKey"),
        ("s3://no-such-bucket/a.root", sapwood.FileMissingError, "name of the bucket"),
        ("s3://data/a.root?anonymous=true", sapwood.DeniedError, "not signed, as requested"),
        ("s3://data/", sapwood.InvalidError, "names a bucket or a prefix"),
        ("s3://data/a.root?x=1", sapwood.InvalidError, "unknown parameter"),
        ("s3://K:S@data/a.root", sapwood.InvalidError, "without credentials"),
    ],
)
def test_errors_say_what_is_wrong(bucket, url, error, words):
    with pytest.raises(error, match=words):
        sapwood.open({url: None})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("AWS_SECRET_ACCESS_KEY", "wrong", "SignatureDoesNotMatch"),
        ("AWS_ACCESS_KEY_ID", "WRONG", "check the access key"),
    ],
)
def test_wrong_credentials(bucket, run, monkeypatch, name, value, words):
    monkeypatch.setenv(name, value)
    done = run("ls", "s3://data/a.root")
    assert done.returncode == 1 and words in done.stderr, done.stderr


def test_no_credentials_at_all_says_where_they_are_looked_for(bucket, run, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    done = run("ls", "s3://data/a.root")
    assert done.returncode == 1 and "no credentials were found" in done.stderr, done.stderr


def test_an_object_that_is_replaced_is_an_error(bucket, contents):
    put(bucket.port, "data", "replaced.root", contents, KEYS)
    tree = sapwood.open("s3://data/replaced.root:t")
    put(bucket.port, "data", "replaced.root", contents[:-1] + b"x", KEYS)
    with pytest.raises(sapwood.Error, match="changed while it was being read"):
        tree.arrays()


def test_credentials_are_in_no_message(bucket, run, monkeypatch):
    monkeypatch.setenv("AWS_SESSION_TOKEN", "TOKENSECRET")
    for target in ("s3://data/a.root", "s3://data/none.root", "s3://data/run 1/"):
        done = run("ls", target, "-vv")
        shown = done.stdout + done.stderr
        assert "request" in shown
        assert not any(secret in shown for secret in (*KEYS, "TOKENSECRET", "Signature=")), shown


def test_the_local_cache_asks_the_store_each_time_and_holds_no_credential(bucket, run, tmp_path, flat, monkeypatch):
    cache = tmp_path / "cache"
    words = ["draw", "--json", "--local-cache", cache, "s3://data/a.root:t", sapwood.open(flat)["t"].keys()[0]]
    first, second = (json.loads(run(*words).stdout) for _ in range(2))
    assert first["histogram"] == second["histogram"]
    assert second["io"]["requests"] == 1 and second["io"]["local_cache_bytes"] > 0
    for path in cache.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert not any(secret.encode() in held for secret in KEYS), path
    # what is held is given to nobody whom the store refuses
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    done = run(*words)
    assert done.returncode == 1 and "SignatureDoesNotMatch" in done.stderr


def test_the_proxy_reads_a_bucket(bucket, command, flat, tmp_path):
    words = [command, "proxy", "--origin", "s3://data", "--json", "--cache-dir", str(tmp_path / "cache")]
    # the credentials of the environment are not for everybody
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        address = json.loads(process.stdout.readline())["http"].rstrip("/")
        with pytest.raises(sapwood.DeniedError):
            sapwood.open({f"{address}/a.root": None})
        own = address.replace("://", f"://{KEYS[0]}:{quote(KEYS[1], safe='')}@")
        assert same(sapwood.open(f"{own}/a.root:t"), flat)
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()
    words += ["--share-credentials", "--allow", "s3://*"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        addresses = json.loads(process.stdout.readline())
        assert addresses["origins"] == ["s3://data/"]
        for at in (addresses["http"].rstrip("/") + "/", addresses["root"].rstrip("/") + "//"):
            assert same(sapwood.open(f"{at}a.root:t"), flat)
        names = [name for name, *_ in sapwood._core.list_directory(addresses["root"].rstrip("/") + "//run 1")]
        assert names == ["1.root", "2.root", "b+%?ü#&.root"]
        with pytest.raises(sapwood.FileMissingError):
            sapwood.open({addresses["http"].rstrip("/") + "/none.root": None})
        # a client's own keys are used instead of the proxy's, also where the proxy holds the file
        wrong = addresses["http"].replace("://", f"://{KEYS[0]}:wrong@").rstrip("/")
        with pytest.raises(sapwood.DeniedError):
            sapwood.open({f"{wrong}/a.root": None})
        # nor are the proxy's for what a client names
        with pytest.raises(sapwood.DeniedError):
            sapwood.open({addresses["http"].rstrip("/") + "/s3://data/a.root": None})
        # and no client says by what address the proxy reaches the store
        host = addresses["http"].split("://")[1].rstrip("/")
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request("GET", "/a.root?endpoint=http://127.0.0.1:9", headers={"Range": "bytes=0-3"})
        assert connection.getresponse().read() == b"root"
        connection.close()
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def test_sapwood_as_a_file_system_lists_a_bucket(bucket):
    fs = fsspec.filesystem("sapwood", skip_instance_cache=True)
    names = [entry["name"] for entry in fs.ls("s3://data/run 1/")]
    assert names == ["s3://data/run 1/1.root", "s3://data/run 1/2.root", f"s3://data/{ODD_URL}"]
    assert [fs.info(name)["size"] for name in names] == [fs.info("s3://data/a.root")["size"]] * 3
    assert fs.cat_file("s3://data/a.root", 0, 4) == b"root"


def test_an_empty_object_is_no_root_file(bucket):
    with pytest.raises(sapwood.Error, match=r"not a ROOT file|empty|0 bytes|shorter"):
        sapwood.open({"s3://data/empty": None})


# What follows is answered by a scripted store, which checks each signature with code of its own.

ETAG = ("ETag", '"0123"')


def error(status, code, message="it says so", headers=()):
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return whole(status, [("Content-Type", "application/xml"), *headers], body.encode())


@pytest.fixture
def scripted(no_aws, monkeypatch, contents):
    """scripted(answer): a store with these answers, in the environment."""
    stores = []

    def start(answer, keys=("ID", "SECRET")):
        stores.append(Scripted(contents, answer))
        monkeypatch.setenv("AWS_ENDPOINT_URL", stores[-1].url(""))
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys[0])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys[1])
        return stores[-1]

    yield start
    for store in stores:
        store.stop()


def test_the_region_that_the_store_names_is_used(scripted, flat):
    def answer(asked, data):
        if not is_signed(asked, ("ID", "SECRET"), "eu-south-1"):
            return error("301 Moved Permanently", "PermanentRedirect", headers=[("x-amz-bucket-region", "eu-south-1")])
        return good(asked, data, [ETAG])

    scripted(answer)
    assert same(sapwood.open("s3://data/a.root:t"), flat)


def test_a_region_that_does_not_help_is_tried_once(scripted):
    def answer(asked, data):
        return error("400 Bad Request", "AuthorizationHeaderMalformed", headers=[("x-amz-bucket-region", "eu-south-1")])

    store = scripted(answer)
    with pytest.raises(sapwood.Error, match=r"eu-south-1\).*AWS_REGION"):
        sapwood.open({"s3://data/a.root": None})
    assert len(store.asked) <= 6


def test_a_wrong_clock_is_made_up_for(scripted, flat):
    theirs = datetime.now(timezone.utc) + timedelta(hours=7)

    def answer(asked, data):
        assert is_signed(asked, ("ID", "SECRET"), "us-east-1")
        then = datetime.strptime(asked.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
        if abs(then - theirs) > timedelta(minutes=15):
            date = ("Date", format_datetime(theirs, usegmt=True))
            return error("403 Forbidden", "RequestTimeTooSkewed", headers=[date])
        return good(asked, data, [ETAG])

    scripted(answer)
    assert same(sapwood.open("s3://data/a.root:t"), flat)


def test_expired_credentials_are_renewed_from_where_they_came(scripted, flat, monkeypatch):
    def answer(asked, data):
        token = asked.headers.get("x-amz-security-token")
        if token == "OLD":
            return error("400 Bad Request", "ExpiredToken")
        assert token == "NEW" and is_signed(asked, ("ID2", "SECRET2"), "us-east-1")
        return good(asked, data, [ETAG])

    def write(key, secret, token):
        path = os.environ["AWS_SHARED_CREDENTIALS_FILE"]
        # two requests are under way at once, and neither may find half a file
        new = f"{path}.{threading.get_ident()}"
        with open(new, "w") as file:
            file.write(
                f"[default]\naws_access_key_id={key}\naws_secret_access_key={secret}\naws_session_token={token}\n"
            )
        os.replace(new, path)

    store = scripted(answer)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    write("ID1", "SECRET1", "OLD")
    with pytest.raises(sapwood.DeniedError, match="have expired"):
        sapwood.open({"s3://data/a.root": None})
    # by the time the store refuses the old ones, the file has new ones
    original = store.answer

    def renewing(asked, data):
        if asked.headers.get("x-amz-security-token") == "OLD":
            write("ID2", "SECRET2", "NEW")
        return original(asked, data)

    store.answer = renewing
    assert same(sapwood.open("s3://data/a.root:t"), flat)


def test_only_the_version_that_was_opened_is_requested(scripted, flat):
    def answer(asked, data):
        return good(asked, data, [ETAG])

    store = scripted(answer)
    assert same(sapwood.open("s3://data/a.root:t"), flat)
    ranges = [len(a.ranges) for a in store.asked]
    assert set(ranges) == {1}, "stores answer several ranges with the whole object"
    assert {a.headers.get("if-match") for a in store.asked[2:]} <= {ETAG[1]}


def test_a_store_that_is_overloaded_is_asked_again(scripted, flat):
    def answer(asked, data):
        if asked.number == 0:
            return error("503 Slow Down", "SlowDown")
        return good(asked, data, [ETAG])

    scripted(answer)
    assert same(sapwood.open("s3://data/a.root:t"), flat)


def test_a_response_cannot_lead_the_signature_elsewhere(scripted):
    def refuse(asked, data):
        return error("403 Forbidden", "AccessDenied")

    with Scripted(b"", refuse, address="127.0.0.2") as other:
        to = ("Location", f"http://127.0.0.2:{other.port}/elsewhere")
        scripted(lambda asked, data: whole("307 Temporary Redirect", [to]))
        with pytest.raises(sapwood.Error):
            sapwood.open({"s3://data/a.root": None})
        assert other.asked and all("authorization" not in a.headers for a in other.asked)


def test_a_message_does_not_repeat_credentials(scripted):
    def answer(asked, data):
        return error("403 Forbidden", "AccessDenied", f"no, {asked.headers['x-amz-security-token']} of IDENTITY")

    scripted(answer, ("IDENTITY", "SECRET"))
    os.environ["AWS_SESSION_TOKEN"] = "TOKENSECRET"
    try:
        with pytest.raises(sapwood.DeniedError) as refused:
            sapwood.open({"s3://data/a.root": None})
    finally:
        del os.environ["AWS_SESSION_TOKEN"]
    assert "TOKENSECRET" not in str(refused.value) and "IDENTITY" not in str(refused.value)


def test_roles_by_web_identity(no_aws, monkeypatch, contents, flat, tmp_path):
    (tmp_path / "token").write_text("THE.TOKEN\n")
    expires = (datetime.now(timezone.utc) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    taken = []

    def sts(asked, data):
        taken.append(asked)
        values = {"AccessKeyId": "WID", "SecretAccessKey": "WSECRET", "SessionToken": "WT", "Expiration": expires}
        fields = "".join(f"<{name}>{value}</{name}>" for name, value in values.items())
        body = f"<AssumeRoleWithWebIdentityResult><Credentials>{fields}</Credentials></AssumeRoleWithWebIdentityResult>"
        return whole("200 OK", [("Content-Type", "text/xml")], body.encode())

    def store(asked, data):
        assert is_signed(asked, ("WID", "WSECRET"), "us-east-1") and asked.headers["x-amz-security-token"] == "WT"
        return good(asked, data, [ETAG])

    with Scripted(contents, sts) as of_roles, Scripted(contents, store) as of_data:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", of_roles.url(""))
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", of_data.url(""))
        monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
        monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/reader")
        assert same(sapwood.open("s3://data/a.root:t"), flat)
        assert same(sapwood.open("s3://data/a.root:t"), flat)
    assert len(taken) == 1, "credentials are kept until they expire"


def test_credentials_of_a_container_and_of_a_machine(no_aws, monkeypatch, contents, flat):
    keys = {"AccessKeyId": "CID", "SecretAccessKey": "CSECRET", "Token": "CT", "Expiration": "2099-01-01T00:00:00Z"}

    def agent(asked, data):
        if asked.path == "/latest/api/token":
            return whole("200 OK", [], b"SESSION")
        if asked.path.endswith("/security-credentials/"):
            assert asked.headers["x-aws-ec2-metadata-token"] == "SESSION"
            return whole("200 OK", [], b"role")
        assert asked.path in ("/get", "/latest/meta-data/iam/security-credentials/role")
        assert asked.path != "/get" or asked.headers["authorization"] == "AGENT"
        return whole("200 OK", [], json.dumps(keys).encode())

    def store(asked, data):
        assert is_signed(asked, ("CID", "CSECRET"), "us-east-1") and asked.headers["x-amz-security-token"] == "CT"
        return good(asked, data, [ETAG])

    with Scripted(b"", agent) as of_keys, Scripted(contents, store) as of_data:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", of_data.url(""))
        with monkeypatch.context() as here:
            here.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", of_keys.url("get"))
            here.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "AGENT")
            assert same(sapwood.open("s3://data/a.root:t"), flat)
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", of_keys.url(""))
        assert same(sapwood.open("s3://data/a.root:t"), flat)


def test_importing_and_reading_other_files_reads_no_aws_settings(tmp_path, flat):
    code = f"import sapwood; sapwood.open({flat!r})['t'].arrays()"
    broken = {**os.environ, "AWS_CONFIG_FILE": str(tmp_path), "AWS_PROFILE": "absent", "AWS_ENDPOINT_URL": "x"}
    subprocess.run([sys.executable, "-c", code], check=True, env=broken, timeout=60)
