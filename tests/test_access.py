"""Servers that authenticate clients: tokens, passwords, certificates; and where credentials must not be sent."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import servers
from servers import MARK, Server, Skip, find, free_port, nginx_config, scratch

import sapwood

HERE = Path(__file__).parent
# what of this machine's user might be found instead
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name
    not in ("BEARER_TOKEN", "BEARER_TOKEN_FILE", "XDG_RUNTIME_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "X509_CERT_DIR")
}


@pytest.fixture(scope="module")
def certificate():
    """A directory with a certificate for localhost that signs itself, its key, and the certificate alone in ca/."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    folder = scratch()
    (folder / "ca").mkdir()
    names = ["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"]
    openssl(*NEW, *names, "-x509", "-days", "2", "-keyout", folder / "key.pem", "-out", folder / "ca" / "cert.pem")
    hashed(folder / "ca", folder / "ca" / "cert.pem")
    own(folder / "key.pem")
    yield folder
    shutil.rmtree(folder)


NEW = ("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/O=test/CN=localhost")


def openssl(*words):
    return subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, text=True).stdout.strip()


def hashed(folder, certificate):
    """Puts a certificate where OpenSSL looks for it."""
    shutil.copy(certificate, folder / f"{openssl('x509', '-noout', '-hash', '-in', certificate)}.0")


def own(key):
    """XRootD insists on a key of its own; nginx reads as root what it wants."""
    if os.geteuid() == 0 and shutil.which("xrootd"):
        shutil.chown(key, "xrootd")
        key.chmod(0o400)


def tls(url):
    return url.replace("http://127.0.0.1", "https://localhost").replace("root://127.0.0.1", "roots://localhost")


@pytest.fixture
def nginx(public, certificate):
    """nginx(directives, tls=...): a server whose log `who` shows the credentials received."""
    started = []

    def start(directives, tls=False):
        try:
            program, run, port = find("nginx"), scratch(), free_port()
        except Skip as reason:
            pytest.skip(str(reason))
        log = run / "access.log"
        listen = f"127.0.0.1:{port}"
        if tls:
            listen += f" ssl; ssl_certificate {certificate}/ca/cert.pem; ssl_certificate_key {certificate}/key.pem"
        more = f"access_log {log} line; access_log {run}/who.log who; {directives}"
        config = nginx_config(public, run, listen, log, more)
        command = [program, "-e", str(run / "error.log"), "-c", str(config)]
        started.append(Server(public, port, command, run, log, tls=tls))
        return started[-1]

    yield start
    for server in started:
        server.stop()


def shown(server):
    """The credentials that an nginx was shown, one for each request."""
    server.settle()
    return [line for line in (server.run / "who.log").read_text().splitlines() if MARK not in line]


@pytest.fixture
def xrootd(public, certificate):
    """xrootd(directives, grid): a server with TLS and these further directives."""
    started = []

    def start(directives, grid=None):
        own = f"{grid}/cert.pem {grid}/key.pem" if grid else f"{certificate}/ca/cert.pem {certificate}/key.pem"
        encrypted = f"xrd.tls {own}\nxrd.tlsca certdir {(grid or certificate) / 'ca'}\nxrootd.tls capable all\n"
        try:
            started.append(servers.xrootd(public, None, encrypted + directives))
        except Skip as reason:
            pytest.skip(str(reason))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    """A library that judges tokens for XRootD: it takes those that begin with "good"."""
    if not shutil.which("c++"):
        pytest.skip("no C++ compiler")
    # XRootD does not run as root and wants to read it
    library = scratch() / "judge.so"
    subprocess.run(["c++", "-shared", "-fPIC", "-o", library, HERE / "judge.cc"], check=True)
    yield library
    shutil.rmtree(library.parent)


def tokens_found(certificate, folder):
    """Environments in which a token is found, by what WLCG's token discovery calls the place."""
    named, session = folder / "named", folder / "session"
    session.mkdir()
    named.write_text("good.named\n")
    (session / f"bt_u{os.geteuid()}").write_text("good.session")
    trusting = {"X509_CERT_DIR": str(certificate / "ca")}
    return {
        "good.given": {**trusting, "BEARER_TOKEN": "good.given", "BEARER_TOKEN_FILE": str(named)},
        "good.named": {**trusting, "BEARER_TOKEN_FILE": str(named), "XDG_RUNTIME_DIR": str(session)},
        "good.session": {**trusting, "XDG_RUNTIME_DIR": str(session)},
    }


def test_xrootd_takes_the_token_that_is_found(run, xrootd, judge, certificate, flat, tmp_path):
    server = xrootd(
        f"xrootd.seclib libXrdSec.so\nsec.protocol ztn -expiry none -tokenlib {judge}\nsec.protbind * only ztn"
    )
    url = tls(server.url(flat)) + ":t"
    local = run("scan", f"{flat}:t", "x", "--limit", "5").stdout
    environments = tokens_found(certificate, tmp_path)
    for token, variables in environments.items():
        done = run("scan", url, "x", "--limit", "5", env=ENVIRONMENT | variables)
        assert (done.returncode, done.stdout) == (0, local), (token, done.stderr)
    trusting = {"X509_CERT_DIR": str(certificate / "ca")}
    refused = run("ls", url, env=ENVIRONMENT | trusting | {"BEARER_TOKEN": "bad.S3CR3T"})
    assert refused.returncode == 1 and "not good" in refused.stderr and "S3CR3T" not in refused.stderr, refused.stderr
    none = run("ls", url, env=ENVIRONMENT | trusting)
    assert none.returncode == 1 and "requires authentication with ztn" in none.stderr and "BEARER_TOKEN" in none.stderr


@pytest.fixture
def grid(certificate):
    """A grid's certificates: its authority's under the name that tools look for, and a host's that it signed."""
    folder = scratch()
    (folder / "ca").mkdir()
    key, signed = folder / "authority.key", folder / "authority.pem"
    uses = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign"]
    authority = ["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/O=test/CN=authority", "-x509", "-days", "2", *uses]
    openssl(*authority, "-keyout", key, "-out", signed)
    openssl(*NEW, "-keyout", folder / "key.pem", "-out", folder / "wanted.pem")
    (folder / "names").write_text("subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")
    sign = ["x509", "-req", "-in", folder / "wanted.pem", "-CA", signed, "-CAkey", key, "-CAcreateserial", "-days", "2"]
    openssl(*sign, "-extfile", folder / "names", "-out", folder / "cert.pem")
    hashed(folder / "ca", signed)
    own(folder / "key.pem")
    yield folder
    shutil.rmtree(folder)


def test_gsi_is_refused_in_words(run, xrootd, grid, flat):
    gsi = f"-certdir:{grid}/ca -cert:{grid}/cert.pem -key:{grid}/key.pem -crl:0 -gmapopt:10"
    server = xrootd(f"xrootd.seclib libXrdSec.so\nsec.protocol gsi {gsi}\nsec.protbind * only gsi", grid)
    encrypted = tls(server.url(flat))
    for url in (encrypted, encrypted.replace("roots:", "root:")):
        done = run("ls", url, env=ENVIRONMENT | {"X509_CERT_DIR": str(grid / "ca")})
        assert done.returncode == 1
        for words in ("gsi (grid certificates) is not supported", "BEARER_TOKEN", "HTTPS"):
            assert words in done.stderr, done.stderr


@pytest.mark.parametrize("protocol", ["https", "roots"])
def test_certificates_are_looked_for_where_tools_look(run, nginx, xrootd, certificate, flat, protocol):
    server = nginx("", tls=True) if protocol == "https" else xrootd("")
    url = tls(server.url(flat))
    ca = certificate / "ca"
    for variables in ({"SSL_CERT_FILE": ca / "cert.pem"}, {"SSL_CERT_DIR": ca}, {"X509_CERT_DIR": ca}):
        done = run("ls", url, env=ENVIRONMENT | {name: str(value) for name, value in variables.items()})
        assert done.returncode == 0, (variables, done.stderr)
    done = run("ls", url, env=ENVIRONMENT)
    assert done.returncode == 1
    assert "not signed by an authority that is trusted here" in done.stderr and "X509_CERT_DIR" in done.stderr


def test_tokens_go_over_https_only(run, nginx, certificate, flat, tmp_path):
    wants = 'if ($http_authorization !~ "^Bearer good") { return 401; }'
    server = nginx(wants, tls=True)
    for token, variables in tokens_found(certificate, tmp_path).items():
        seen = len(shown(server))
        done = run("show", tls(server.url(flat)), "--json", env=ENVIRONMENT | variables)
        assert done.returncode == 0, (token, done.stderr)
        assert set(shown(server)[seen:]) == {f'"Bearer {token}"'}
    plain = nginx(wants)
    done = run("ls", plain.url(flat), env=ENVIRONMENT | {"BEARER_TOKEN": "good.S3CR3T"})
    assert done.returncode == 1 and "BEARER_TOKEN" in done.stderr and "S3CR3T" not in done.stderr
    assert set(shown(plain)) == {'"-"'}


@pytest.fixture
def guarded(nginx, public):
    """An nginx that wants a user and a password."""
    passwords = public / "passwords"
    passwords.write_text("Aladdin:{PLAIN}open S3CR3T\n")
    return nginx(f'auth_basic "cave"; auth_basic_user_file {passwords};')


def test_passwords(run, guarded, flat):
    url = guarded.url(flat)
    with_password = url.replace("http://", "http://Aladdin:open%20S3CR3T@")
    assert run("ls", with_password).stdout == run("ls", flat).stdout
    none = run("ls", url)
    assert none.returncode == 1 and "401" in none.stderr and "user:password@" in none.stderr
    wrong = run("ls", with_password.replace("open", "shut"))
    assert wrong.returncode == 1 and "401" in wrong.stderr and "S3CR3T" not in wrong.stderr
    assert "password that were sent are not accepted" in wrong.stderr


def test_secrets_are_in_nothing_that_is_kept(run, guarded, public, flat, tmp_path):
    """Neither in what is printed, nor in perf stats, their drawings, or recorded logs."""
    with_password = guarded.url(flat).replace("http://", "http://Aladdin:open%20S3CR3T@")
    with_token = guarded.url(flat).replace("http://", "http://Aladdin:open%20S3CR3T@") + "?authz=S3CR3T&x=1"
    for number, url in enumerate((with_password, with_token)):
        where = tmp_path / str(number)
        where.mkdir()
        kept = {name: where / f"stats.{name}" for name in ("json", "svg", "png")}
        outputs = [word for path in kept.values() for word in ("-o", path)]
        done = run("perf", url + ":t", "-b", "x", "--record", where / "events.jsonl", *outputs)
        assert done.returncode == 0, done.stderr
        drawn = run("draw", url + ":t", "x", "--json", "--record", where / "drawn.jsonl")
        shown = run("show", url, "--json")
        listed = run("ls", url, "--json")
        assert drawn.returncode == shown.returncode == listed.returncode == 0, (drawn.stderr, shown.stderr)
        replayed = run("perf", "--replay", where / "events.jsonl", "--json")
        assert json.loads(replayed.stdout)["scans"][0]["same"]
        texts = [text for done in (done, drawn, shown, listed, replayed) for text in (done.stdout, done.stderr)]
        texts += [path.read_bytes().decode(errors="replace") for path in where.iterdir()]
        assert len(texts) == 15
        for text in texts:
            assert "S3CR3T" not in text


def test_files_that_are_left_out_are_named_without_their_passwords(run, guarded, flat):
    good = guarded.url(flat).replace("http://", "http://Aladdin:open%20S3CR3T@")
    bad = good.replace("flat", "none") + "?token=S3CR3T"
    done = run("scan", good + ":t", "x", "--limit", "1", "--add", bad + ":t", "--skip-bad")
    assert done.returncode == 0 and "S3CR3T" not in done.stderr + done.stdout
    drawn = run("draw", bad + ":t", "x", "--add", good + ":t", "--skip-bad")
    assert "skipped " in drawn.stderr and "none-zlib.root" in drawn.stderr, drawn.stderr
    assert "S3CR3T" not in drawn.stderr + drawn.stdout
    quiet = run("draw", bad + ":t", "x", "--add", good + ":t", "--skip-bad", "-q")
    assert quiet.returncode == 0 and not quiet.stderr
    with pytest.warns(sapwood.SkippedFileWarning, match="none-zlib") as caught:
        assert len(sapwood.concatenate([{good: "t"}, {bad: "t"}], ["x"], skip_bad_files=True)) == 1000
    assert not any("S3CR3T" in str(warning.message) for warning in caught)
    for files in ([{bad: "t"}], [{good: "t"}, {bad: "t"}], [{good: "absent"}]):
        with pytest.raises(sapwood.Error) as raised:
            sapwood.concatenate(files, ["x"])
        assert "zlib.root" in str(raised.value) and "S3CR3T" not in str(raised.value)


def test_a_redirect_is_asked_once_and_gets_no_password_of_another_host(run, nginx, flat):
    pool = nginx("")
    door = nginx(f"return 307 http://127.0.0.1:{pool.port}$request_uri;")
    url = door.url(flat).replace("http://", "http://Aladdin:S3CR3T@")
    done = run("draw", url + ":t", "x", "--json", "--cache-size", "0")
    assert done.returncode == 0, done.stderr
    asked = json.loads(done.stdout)["io"]["requests"]
    # every basket is a request of its own, and none of them goes to the door
    assert len(door.requests()) == 1 and asked - 2 <= len(pool.requests()) <= asked and asked > 4
    assert shown(door) == ['"Basic QWxhZGRpbjpTM0NSM1Q="']
    assert set(shown(pool)) == {'"-"'}
