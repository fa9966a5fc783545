"""Fixtures of the tests of `sapwood browse`: its files, a browser, and pages that are watched."""

import json

import browser
import numpy as np
import pytest
import servers

import sapwood

#: Names that would run a script if a page took them for markup.
HOSTILE = "<img src=x onerror=alert(1)>"
ENTRIES = 20_000


def numbers(salt):
    """Numbers between 0 and 1 that are spread evenly and come out the same on every machine."""
    return (np.arange(ENTRIES) * 0.6180339887498949 + salt * 0.7548776662466927) % 1.0


@pytest.fixture(scope="session")
def browsed(tmp_path_factory):
    """A folder of files: a tree with a histogram beside it, a tree of many branches, hostile names."""
    folder = tmp_path_factory.mktemp("browsed")
    x = np.sqrt(-2 * np.log(1 - numbers(1))) * np.cos(2 * np.pi * numbers(2))
    columns = {"x": x, "y": x**2 + numbers(3), "n": (np.arange(ENTRIES) % 7).astype("i4"), "w": numbers(4)}
    with sapwood.recreate(folder / "events.root") as file:
        tree = file.mktree("Events", {name: column.dtype for name, column in columns.items()})
        for begin in range(0, ENTRIES, 1000):
            tree.extend({name: column[begin : begin + 1000] for name, column in columns.items()})
        file["spectrum"] = np.histogram(x, bins=40, range=(-4, 4))
        file["below/plane"] = np.histogram2d(x, columns["y"], bins=(10, 12))
    with sapwood.recreate(folder / "hostile.root") as file:
        file[HOSTILE] = np.histogram(x, bins=10, range=(-4, 4))
        file["t"] = {"fine": np.arange(5), "b<b>bold": np.arange(5), "a&amp": np.arange(5)}
    return folder


@pytest.fixture(scope="session")
def wide(tmp_path_factory):
    """A tree of 20 000 branches."""
    path = tmp_path_factory.mktemp("wide") / "wide.root"
    with sapwood.recreate(path) as file:
        file["Wide"] = {f"branch_{i:05}": np.arange(2, dtype="f4") for i in range(20_000)}
    return path


@pytest.fixture(scope="session")
def long(tmp_path_factory):
    """A tree of a million entries."""
    path = tmp_path_factory.mktemp("long") / "long.root"
    with sapwood.recreate(path) as file:
        file["Long"] = {"i": np.arange(1_000_000, dtype="i4")}
    return path


@pytest.fixture(scope="module")
def chromium():
    """A browser; skips by name where Chromium or the library that drives it is missing.

    It ends with its module: while it runs, this thread has an event loop, which other tests must not have.
    """
    library = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    try:
        path = browser.chromium()
    except servers.Skip as reason:
        pytest.skip(str(reason))
    with library.sync_playwright() as playwright:
        # in containers Chromium runs as root, where it refuses its own sandbox
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def browse(command):
    """browse(TARGET...): the address of a running `sapwood browse`; one for all tests that name the same targets."""
    running = {}

    def start(*words):
        if words not in running:
            running[words] = browser.Browse(command, *words)
        return running[words].url

    yield start
    for one in running.values():
        one.stop()


@pytest.fixture
def show(chromium, browse):
    """show(TARGET...): a page of its own. No page may ask for anything elsewhere, nor have an error."""
    contexts, pages = [], []

    def show(*words, fragment="", width=1280, height=800, **more):
        contexts.append(chromium.new_context(viewport={"width": width, "height": height}, **more))
        pages.append(browser.Page(contexts[-1].new_page(), browse(*words), fragment))
        return pages[-1]

    yield show
    for context in contexts:
        context.close()
    for page in pages:
        assert not page.seen.elsewhere()
        assert not page.seen.complaints


@pytest.fixture
def events(show, browsed):
    """The page of the tree Events."""
    page = show(browsed / "events.root")
    page.open_tree()
    return page


@pytest.fixture
def draw_json(run, browsed):
    """draw_json(expression, ...): the histogram that `sapwood draw --json` prints."""

    def draw(*words):
        done = run("draw", f"{browsed / 'events.root'}:Events", *words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["histogram"]

    return draw
