"""Takes the screenshots of docs/guide/browse.md: `make build`, then `.venv/bin/python docs/browse_pictures.py`."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "guide"), str(DOCS.parent / "tests")]

import browser  # noqa: E402
import sample  # noqa: E402

STATIC = DOCS / "guide" / "_static"
COMMAND = DOCS.parent / "target" / "release" / "sapwood"


def keep(page, name: str) -> None:
    """Keeps what is shown as a small PNG: a page like this has few colours."""
    page.page.mouse.move(0, 0)
    page.page.wait_for_load_state("networkidle")
    path = STATIC / f"browse-{name}.png"
    page.page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size // 1000} kB")


def pictures(page) -> None:
    page.open_tree()
    page.row("px").first.click()
    page.drawn()
    page.row("MET_pt").first.dblclick()
    page.drawn(2)
    keep(page, "plot")
    page.draw("Muon_pt:Muon_eta", "nMuon > 1", "40,-2.4,2.4,40,0,100")
    page.drawn()
    page.view("io")
    page.page.locator(".io svg[data-requests]").wait_for()
    keep(page, "io")
    page.view("map")
    canvas = page.page.locator(".map canvas")
    canvas.wait_for()
    canvas.click(position={"x": 300, "y": 130})
    page.page.locator(".region dl").nth(1).wait_for()
    keep(page, "map")


def main() -> None:
    """A server 20 ms away, the page of its file, three pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        sample.write(Path(folder) / "events.root", 0, 200_000)
        words = [COMMAND, "serve", folder, "--json", "--delay", "20ms"]
        served = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        url = json.loads(served.stdout.readline())["http"]
        browse = browser.Browse(COMMAND, f"{url}events.root", "--local-cache", "off")
        chromium = playwright.chromium.launch(executable_path=browser.chromium(), args=["--no-sandbox"])
        try:
            view = chromium.new_page(viewport={"width": 1280, "height": 800})
            pictures(browser.Page(view, browse.url))
        finally:
            chromium.close()
            browse.stop()
            served.terminate()
            served.wait()


if __name__ == "__main__":
    main()
