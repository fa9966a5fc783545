"""`sapwood browse` in Chromium: starts the command, opens its page, and watches what the page asks for and says."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import servers

AXE = Path(__file__).parent.parent / "web" / "node_modules" / "axe-core" / "axe.min.js"
#: What a page may take to show something. Nothing is measured: this ends a test that would wait for ever.
PATIENCE = 30_000


class Browse:
    """A running `sapwood browse`."""

    def __init__(self, command, *words):
        self.process = subprocess.Popen(
            [command, "browse", "--no-open", "--json", *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = json.loads(self.process.stdout.readline())["url"]

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()


class Seen:
    """What a page asked for, and what it complained about."""

    def __init__(self, page, address):
        self.address = address
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.complaints.append(message.text))
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def elsewhere(self):
        """The requests that left the address of the page."""
        own = (self.address, "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]


def chromium():
    """The path of Chromium. It is the one of the system: none is downloaded."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        try:
            return servers.find(name)
        except servers.Skip:
            continue
    raise servers.Skip("no Chromium")


class Page:
    """The page with the words of its tests."""

    def __init__(self, page, url, fragment=""):
        self.page = page
        self.url = url
        self.seen = Seen(page, url.split("?")[0])
        page.set_default_timeout(PATIENCE)
        page.goto(url + fragment)
        self.row("").first.wait_for(state="attached")

    def row(self, name):
        """The rows of the list with this name; all for an empty one."""
        wanted = re.compile(f"^{re.escape(name)}$") if name else ""
        return self.page.locator("[role=treeitem]", has=self.page.locator(".name", has_text=wanted))

    def open_tree(self, name="Events"):
        """Opens a tree, if it is not open yet, until its branches are listed."""
        row = self.row(name).first
        row.wait_for()
        if row.get_attribute("aria-selected") != "true" or row.get_attribute("aria-expanded") != "true":
            row.click()
        self.page.locator(".kind.branch").first.wait_for()
        self.page.locator("#tab-plot").wait_for(state="attached")

    def drawn(self, count=1):
        """Waits until as many draws are done and no other runs."""
        self.page.wait_for_function(
            """count => document.querySelectorAll('.jobs [data-state=done]').length === count
                     && !document.querySelector('.jobs [data-state=running]')""",
            arg=count,
        )
        self.page.locator(".picture svg [data-histogram]").nth(0).wait_for(state="attached")

    def draw(self, expression, cut="", bins="", option=""):
        """Fills the boxes and presses Draw."""
        self.page.fill("#expression", expression)
        self.page.fill("#cut", cut)
        self.page.fill("#bins", bins)
        self.page.select_option("#option", option)
        self.page.get_by_role("button", name="Draw", exact=True).click()

    def view(self, name):
        self.page.click(f"#tab-{name}")

    def saved(self, kind, group="Save as"):
        """What a button that saves hands to the user."""
        buttons = self.page.get_by_role("group", name=group, exact=True)
        with self.page.expect_download() as download:
            buttons.get_by_role("button", name=kind, exact=True).click()
        return Path(download.value.path()).read_bytes()

    def histogram(self):
        """The contents of the picture, as the page saves them."""
        return json.loads(self.saved("JSON"))["histogram"]

    def faults(self):
        """Serious faults that axe finds in what is shown."""
        self.page.evaluate(AXE.read_text())
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{fault['id']}: {node['target']} {node['failureSummary']}"
            for fault in found["violations"]
            if fault["impact"] in ("serious", "critical")
            for node in fault["nodes"]
        ]
