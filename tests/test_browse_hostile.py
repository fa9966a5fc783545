"""`sapwood browse` against hostile users, files and moments."""

import json
import os
import shlex
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import browser
import numpy as np
import pytest

import sapwood

#: Names that objects of JavaScript have, and others that are something else to a shell, an address or a screen.
NAMES = [
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "a/b",
    "%2e%2e",
    "$(id)",
    "\u202egnp.toor",
    "x" * 300,
]


@pytest.fixture
def names(tmp_path):
    with sapwood.recreate(tmp_path / "it's $(id) #1.root") as file:
        file["__proto__"] = {name: np.arange(10.0) for name in NAMES if "/" not in name}
        file["constructor"] = np.histogram(np.arange(10.0), bins=5)
    return next(tmp_path.iterdir())


def ask(url, body=None, **headers):
    """Status and answer."""
    data = None if body is None else json.dumps(body).encode()
    headers |= {} if body is None else {"Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.loads(refused.read())


def test_names_of_javascript_are_names(show, names):
    page = show(names)
    page.open_tree("__proto__")
    for name in ("__proto__", "constructor", "toString"):
        page.page.fill("#filter", name)
        row = page.row(name).locator("visible=true").filter(has=page.page.locator(".kind.branch")).first
        row.wait_for()
        row.click()
        page.drawn()
        assert page.histogram()["entries"] == 10
    page.page.fill("#filter", "")
    page.view("entries")
    page.page.locator(".table-box tbody th", has_text="9").wait_for()
    page.view("map")
    page.page.locator(".map canvas").wait_for()
    assert page.page.evaluate("({}).polluted === undefined && Object.keys(Object.prototype).length === 0")


def test_a_command_with_a_hostile_file_name_runs_as_it_is(show, names, run):
    page = show(names)
    page.open_tree("__proto__")
    page.draw("toString")
    page.drawn()
    command = page.page.get_by_role("region", name="Command").inner_text()
    words = shlex.split(command)
    assert words[:2] == ["sapwood", "draw"]
    done = run(*words[1:], "--json")
    assert json.loads(done.stdout)["histogram"] == page.histogram()


def test_a_file_name_that_is_not_utf8_is_opened(browse, tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        file["t"] = {"x": np.arange(10.0)}
    os.rename(tmp_path / "a.root", os.fsencode(tmp_path) + b"/\xff\xe9.root")
    url = browse(tmp_path)
    (entry,) = ask(f"{url}api/ls?target=0")[1]["entries"]
    name = urllib.parse.quote(entry["name"])
    assert ask(f"{url}api/tree?target=0&file={name}&object=t")[1]["entries"] == 10
    body = {"target": 0, "file": entry["name"], "object": "t", "columns": "x", "cut": "", "count": 3}
    assert len(ask(f"{url}api/scan", body)[1]["rows"]) == 3
    named = browse(f"{tmp_path}/\udcff\udce9.root")
    assert ask(f"{named}api/tree?target=0&object=t")[1]["entries"] == 10


@pytest.mark.parametrize("columns", ["x, n", ""])
@pytest.mark.parametrize("cut", ["n > 2 && x > 3", ""])
def test_the_python_of_a_table_gives_its_rows(browse, tmp_path, columns, cut):
    with sapwood.recreate(tmp_path / "a.root") as file:
        file["t"] = {"x": np.arange(10.0), "n": np.arange(10) % 4}
    body = {"target": 0, "object": "t", "columns": columns, "cut": cut, "count": 100}
    table = ask(f"{browse(tmp_path / 'a.root')}api/scan", body)[1]
    *before, last = table["python"].splitlines()
    names = {}
    exec("\n".join(before), names)
    rows = [row if isinstance(row, tuple) else (row["x"], row["n"]) for row in eval(last, names)]
    assert [tuple(map(float, row)) for row in rows] == [tuple(map(float, row["cells"])) for row in table["rows"]]


def test_a_file_that_is_replaced_is_read_anew(show, tmp_path):
    def write(entries):
        with sapwood.recreate(tmp_path / "new.root") as file:
            file["t"] = {"x": np.arange(float(entries))}
        os.replace(tmp_path / "new.root", tmp_path / "a.root")

    write(10)
    page = show(tmp_path / "a.root")
    page.row("x").first.click()
    page.drawn()
    assert page.histogram()["entries"] == 10
    write(2000)
    page.draw("x")
    page.drawn()
    assert page.histogram()["entries"] == 2000


def test_a_server_that_is_gone_is_told(chromium, command, browsed):
    server = browser.Browse(command, browsed / "events.root")
    page = chromium.new_page()
    try:
        page.goto(f"{server.url}#target=0&object=Events;1&kind=tree&view=plot")
        page.locator(".kind.branch").first.wait_for()
        server.stop()
        page.fill("#expression", "x")
        page.press("#expression", "Enter")
        page.locator(".jobs .fault", has_text="sapwood browse does not answer").wait_for()
    finally:
        page.close()


def test_an_entry_of_many_rows_is_bounded(browse, tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as file:
        tree = file.mktree("t", {"n": "i4", "x": "var * float32"})
        tree.extend({"n": np.arange(2), "x": [np.arange(30_000, dtype="f4"), np.arange(2, dtype="f4")]})
    url = browse(tmp_path / "a.root")
    seen = []
    for first in (0, 1):
        body = {"target": 0, "object": "t", "columns": "x", "cut": "", "first": first, "count": 10}
        _, page = ask(f"{url}api/scan", body)
        seen.append((len(page["rows"]), page["next"], page["truncated"]))
    assert seen == [(20_000, 1, True), (2, None, False)]


def test_several_tabs_do_not_disturb_each_other(show, browsed, draw_json):
    one, other = show(browsed / "events.root"), show(browsed / "events.root")
    for page, name in ((one, "x"), (other, "w")):
        page.open_tree()
        page.draw(name)
    one.drawn()
    other.drawn()
    assert (one.histogram(), other.histogram()) == (draw_json("x"), draw_json("w"))


def test_a_page_of_another_name_or_site_gets_nothing(browse, browsed):
    url = browse(browsed / "events.root")
    port = int(url.split(":")[2].split("/")[0])
    for headers in (
        {"Host": f"evil.example:{port}"},
        {"Origin": "http://evil.example"},
        {"Origin": f"http://localhost.evil.example:{port}"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    ):
        assert ask(f"{url}api/session", **headers)[0] == 403
    # not bound to other addresses of this machine
    for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}:
        if not address.startswith("127."):
            with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
                socket.create_connection((address, port), timeout=5)


def test_credentials_stay_out_of_the_page(browse):
    url = browse("https://user:secret-word@127.0.0.1:9/a.root?authz=secret-token")
    _, session = ask(f"{url}api/session")
    status, failed = ask(f"{url}api/ls?target=0")
    told = json.dumps([session, failed])
    assert status == 502
    assert "secret" not in told
    assert "127.0.0.1:9/a.root" in told


def test_an_object_that_is_named_is_shown(chromium, command, browsed):
    for name, shown in (
        ("Events", "#tab-plot[aria-selected=true]"),
        ("below/plane", "section.object[data-state=done]"),
    ):
        server = browser.Browse(command, f"{browsed / 'events.root'}:{name}")
        page = browser.Page(chromium.new_page(), server.url)
        try:
            assert f"#target=0&object={name.split('/')[0]}" in server.url
            page.page.locator(shown).wait_for()
            page.page.locator(".row.chosen .name", has_text=name.split("/")[-1]).wait_for()
        finally:
            page.page.close()
            server.stop()


def test_an_object_that_is_not_there_is_refused_at_once(run, browsed):
    done = run("browse", "--no-open", f"{browsed / 'events.root'}:nix")
    assert done.returncode == 1
    assert "nix" in done.stderr


def test_many_tabs_that_draw_leave_room_for_another(chromium, command, browsed):
    """A browser has six connections for an address: draws that took them all kept each other tab from its page."""
    words = [command, "serve", str(browsed), "--json", "--delay", "100ms", "--bandwidth", "100kbit"]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    far = json.loads(process.stdout.readline())["http"]
    server = browser.Browse(command, f"{far}events.root:Events", str(browsed / "events.root"), "--local-cache", "off")
    busy = chromium.new_context()
    try:
        draw = urllib.parse.quote(json.dumps(["x:y:w", "", "4,-4,4,4,0,9,4,0,1", ""]))
        for _ in range(10):
            busy.new_page().goto(f"{server.url}&draw={draw}")
        for page in busy.pages:
            page.locator(".jobs [data-state=running]").wait_for()
        waiting = busy.new_page()
        waiting.goto(server.url.split("#")[0] + "#target=1&object=Events;1&kind=tree&view=plot&draw=" + draw)
        waiting.locator(".jobs", has_text="waits for other draws").wait_for()
        for page in busy.pages[:-1]:
            page.close()
        waiting.locator(".jobs [data-state=done]").wait_for()
    finally:
        busy.close()
        server.stop()
        process.terminate()
        process.wait(10)
        process.stdout.close()
