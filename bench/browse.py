#!/usr/bin/env python3
"""How long people wait for the page of `sapwood browse`, in Chromium.

    browse.py [--file FILE:TREE] [--repeat 7] [--only local,remote,wide,tabs,bundle] [-o bench/out/browse.json]

Without a file, one of 152 numbers in 200 000 entries is made. Each figure is the least of some repetitions: what the
page takes, not what else the machine does.

Local and remote: from the click on a branch to its picture, beside the whole time of `sapwood draw` of this branch.
Wide: from the click on a tree of 20 000 branches to the first of them, and the longest time between two frames while
the list is scrolled. Tabs: memory and threads of the server with 50 pages that draw from a slow server, and after they
are closed."""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
import urllib.parse
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import sapwood

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

import browser  # noqa: E402

COMMAND = Path(sys.executable).parent / "sapwood"
TABS = 50
ROUNDS = 3

#: Clicks a row, and gives the milliseconds until there is a picture that was not there before.
PICTURE = """row => new Promise(done => {
    const begin = performance.now();
    const before = document.querySelector('.picture svg');
    const look = () => {
        const now = document.querySelector('.picture svg [data-histogram]');
        const name = row.querySelector('.name').textContent;
        if (now && now.dataset.histogram === name) done(performance.now() - begin);
        else requestAnimationFrame(look);
    };
    row.click();
    look();
})"""

#: Clicks a row, and gives the milliseconds until branches are listed.
LISTED = """row => new Promise(done => {
    const begin = performance.now();
    const look = () => {
        if (document.querySelector('.kind.branch')) done(performance.now() - begin);
        else requestAnimationFrame(look);
    };
    row.click();
    look();
})"""

#: Scrolls a list for so many frames, by steps and then by leaps; the longest times between two frames, in milliseconds.
SCROLLED = """([list, frames]) => new Promise(done => {
    const gaps = [];
    let last = 0;
    const step = now => {
        if (last) gaps.push(now - last);
        last = now;
        if (gaps.length >= frames) { gaps.sort((a, b) => b - a); done(gaps.slice(0, 5)); return; }
        list.scrollTop += gaps.length % 50 === 49 ? 100_000 : 240;
        if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) list.scrollTop = 0;
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
})"""


def made(folder):
    """A file of 152 branches."""
    path = folder / "numbers.root"
    rng = np.random.default_rng(1)
    with sapwood.recreate(path) as file:
        tree = file.mktree("h42", {f"s{i}": np.dtype("f4") for i in range(152)})
        for _ in range(10):
            tree.extend({f"s{i}": rng.normal(i, 1, 20_000).astype("f4") for i in range(152)})
    return f"{path}:h42"


def wide(folder):
    """A file of 20 000 branches."""
    path = folder / "wide.root"
    with sapwood.recreate(path) as file:
        file["Wide"] = {f"branch_{i:05}": np.arange(2, dtype="f4") for i in range(20_000)}
    return path


@contextmanager
def page_of(chromium, *words):
    """A new page of a new server."""
    server = browser.Browse(COMMAND, *words)
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(20_000)
    try:
        page.goto(server.url)
        yield server, page
    finally:
        context.close()
        server.stop()


def row(page, name):
    """The row of a branch or tree."""
    page.locator("[role=treeitem] .name", has_text=name).first.wait_for()
    names = "[...document.querySelectorAll('[role=treeitem]')]"
    found = page.evaluate_handle(
        f"name => {names}.find(row => row.querySelector('.name').textContent === name)", arg=name
    )
    return found.as_element()


def drawn(target, name, *words):
    """Seconds of the whole command."""
    start = time.perf_counter()
    subprocess.run([COMMAND, "draw", target, name, *words], check=True, capture_output=True)
    return time.perf_counter() - start


def picture(chromium, target, names, words=()):
    """Milliseconds from the click to the picture: in the page and, each in a new process, by command."""
    clicks, commands = [], []
    with page_of(chromium, target, *words) as (_, page):
        page.locator(".kind.branch").first.wait_for()
        for name in names:
            clicks.append(page.evaluate(PICTURE, row(page, name)))
            page.wait_for_selector(".jobs [data-state=done]")
    for name in names:
        commands.append(drawn(target, name, *words) * 1e3)
    return {
        "click_ms": min(clicks),
        "clicks_ms": clicks,
        "command_ms": min(commands),
        "ratio": min(clicks) / min(commands),
    }


@contextmanager
def far(folder, *more):
    """The folder on a server at 100 ms."""
    words = [COMMAND, "serve", folder, "--json", "--delay", "100ms", *more]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())["http"]
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def scrolled(chromium, path, repeat):
    """Opening and scrolling a tree of many branches."""
    opened, frames = [], []
    for _ in range(repeat):
        server = browser.Browse(COMMAND, path.parent)
        context = chromium.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        try:
            page.goto(server.url)
            opened.append(page.evaluate(LISTED, row(page, path.name)))
            gaps = page.evaluate(SCROLLED, [page.query_selector("[role=tree]"), 300])
            frames.append(gaps)
        finally:
            context.close()
            server.stop()
    least = min(frames, key=lambda gaps: gaps[0])
    return {"open_ms": min(opened), "opens_ms": opened, "longest_frame_ms": least[0], "longest_frames_ms": frames}


def of_process(pid):
    """Memory (MB) and threads of a process."""
    facts = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {"memory_mb": int(facts["VmRSS"].split()[0]) / 1e3, "threads": int(facts["Threads"])}


def tabs(chromium, target):
    """Pages at once that draw, closed in the middle of it; several times."""
    path, _, tree = target.rpartition(":")
    draw = urllib.parse.quote(json.dumps(["s1:s2:s3", "", "", ""]))
    with (
        far(Path(path).parent, "--bandwidth", "200kbit") as remote,
        page_of(chromium, f"{remote}{Path(path).name}:{tree}", "--local-cache", "off") as (server, page),
    ):
        page.locator(".kind.branch").first.wait_for()
        before = of_process(server.process.pid)
        during, after = [], []
        # several times: memory that is kept for the next draw does not grow, memory that is lost does
        for _ in range(ROUNDS):
            context = chromium.new_context()
            for _ in range(TABS):
                context.new_page().goto(f"{server.url}&draw={draw}", wait_until="commit")
            time.sleep(5)
            during.append(of_process(server.process.pid))
            context.close()
            # threads that wait for work end 10 seconds later
            time.sleep(15)
            after.append(of_process(server.process.pid))
    return {"before": before, "during": during, "after": after}


def bundle():
    """Bytes of the page, compressed."""
    files = [path for path in (HERE.parent / "web" / "dist").rglob("*") if path.is_file()]
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in files}
    first = sum(sizes.get(name, 0) for name in ("index.html", "page.js", "style.css"))
    return {"bytes": sum(sizes.values()), "loaded_at_once": first}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", help="FILE:TREE whose branches are drawn")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--only", default="local,remote,wide,tabs,bundle")
    parser.add_argument("-o", "--out", type=Path, default=HERE / "out" / "browse.json")
    options = parser.parse_args()
    wanted = options.only.split(",")
    out = {"date": time.strftime("%Y-%m-%d"), "repeat": options.repeat}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        folder = Path(folder)
        target = options.file or (made(folder) if {"local", "remote", "tabs"} & set(wanted) else "")
        args = ["--no-sandbox", "--disable-gpu"]
        chromium = playwright.chromium.launch(executable_path=browser.chromium(), args=args)
        names = []
        if target:
            with sapwood.open(target) as tree:
                names = tree.keys()[: options.repeat]
        if "local" in wanted:
            out["local"] = picture(chromium, target, names)
            print(
                f"local: {out['local']['click_ms']:.0f} ms after the click, {out['local']['ratio']:.2f} of the command"
            )
        if "remote" in wanted:
            path, _, tree = target.rpartition(":")
            with far(Path(path).parent) as server:
                url = f"{server}{Path(path).name}:{tree}"
                out["remote"] = picture(chromium, url, names, ("--local-cache", "off"))
            print(f"remote: {out['remote']['click_ms']:.0f} ms, {out['remote']['ratio']:.2f} of the command")
        if "wide" in wanted:
            out["wide"] = scrolled(chromium, wide(folder), min(3, options.repeat))
            print(f"wide: open {out['wide']['open_ms']:.0f} ms, longest frame {out['wide']['longest_frame_ms']:.0f} ms")
        if "tabs" in wanted:
            out["tabs"] = tabs(chromium, target)
            print(f"tabs: {out['tabs']}")
        if "bundle" in wanted:
            out["bundle"] = bundle()
            print(f"bundle: {out['bundle']['bytes'] / 1e3:.0f} kB, {out['bundle']['loaded_at_once'] / 1e3:.0f} at once")
        chromium.close()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
