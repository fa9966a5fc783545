"""The page of `sapwood browse` for everyone: hostile names, many branches, keyboard, links, widths, screen readers."""

import json
import subprocess
from pathlib import Path

import browser
import pytest
from browse_fixtures import HOSTILE

#: Screenshots that a person can look at.
PICTURES = Path(__file__).parent.parent / "target" / "browse-screenshots"


def test_names_from_files_are_text(show, browsed):
    page = show(browsed / "hostile.root")
    page.row(HOSTILE).first.wait_for()
    page.open_tree("t")
    page.row("b<b>bold").first.wait_for()
    page.row("a&amp").first.click()
    page.view("entries")
    page.page.locator(".table-box thead th", has_text="b<b>bold").wait_for()
    page.view("map")
    page.page.locator(".branch-choice label", has_text="b<b>bold").wait_for()
    page.row(HOSTILE).first.click()
    page.page.locator("section.object[data-state=done] svg").first.wait_for()
    assert page.page.locator("img, b, script:not([src])").count() == 0


def test_twenty_thousand_branches_are_a_short_list_of_rows(show, wide):
    page = show(wide)
    page.open_tree("Wide")
    tree = page.page.get_by_role("tree")
    assert int(page.row("branch_00000").first.get_attribute("aria-setsize")) == 20_000
    assert tree.locator("[role=treeitem]").count() < 200
    tree.evaluate("tree => { tree.scrollTop = tree.scrollHeight }")
    page.row("branch_19999").first.wait_for()
    assert tree.locator("[role=treeitem]").count() < 200
    page.page.fill("#filter", "_12345")
    page.row("branch_12345").first.wait_for()
    assert page.page.locator(".filter [role=status]").inner_text() == "1 branches"


def test_the_keyboard_is_enough(events):
    keyboard = events.page.keyboard
    keyboard.press("/")
    assert events.page.evaluate("document.activeElement.id") == "filter"
    keyboard.type("w")
    # the list is filtered a moment later
    events.row("y").first.wait_for(state="detached")
    keyboard.press("ArrowDown")
    while not events.page.locator(".row.active", has=events.page.locator(".kind.branch")).count():
        keyboard.press("ArrowDown")
    keyboard.press("Enter")
    events.drawn()
    assert events.histogram()["expression"] == "w"
    keyboard.press("/")
    keyboard.press("Escape")
    events.page.wait_for_function("() => document.querySelector('#filter').value === ''")
    assert events.page.evaluate("document.activeElement.id") != "filter"
    events.page.focus("#tab-plot")
    keyboard.press("ArrowRight")
    events.page.locator("#tab-entries[aria-selected=true]").wait_for()


def test_a_link_opens_the_same_view(events, show, browsed):
    events.draw("x", "n > 3", "20,-2,2")
    events.drawn()
    events.page.wait_for_function("() => location.hash.includes('draw=')")
    fragment = events.page.evaluate("location.hash")
    again = show(browsed / "events.root", fragment=fragment)
    again.drawn()
    assert again.histogram() == events.histogram()
    assert again.page.input_value("#cut") == "n > 3"
    again.row("x").first.wait_for()
    assert not any("draw=" in url for url in again.seen.requests if "api/" in url)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_two_widths_are_read_without_scrolling_aside(show, browsed, width, dark):
    if not browser.AXE.exists():
        pytest.skip("axe-core is not installed: run `make page`")
    page = show(browsed / "events.root", width=width, color_scheme="dark" if dark else "light")
    contents = page.page.get_by_role("button", name="Contents of the files")
    page.open_tree()
    page.row("x").first.click()
    page.drawn()
    PICTURES.mkdir(parents=True, exist_ok=True)
    for view in ("plot", "entries", "io", "map", "doctor"):
        page.view(view)
        page.page.locator("#view section").wait_for()
        page.page.wait_for_load_state("networkidle")
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.page.evaluate("(main => main.scrollWidth <= main.clientWidth)(document.querySelector('main'))")
        assert page.faults() == []
        page.page.screenshot(path=PICTURES / f"{view}-{width}{'-dark' if dark else ''}.png")
    if width < 760:
        contents.click()
    page.row("spectrum").first.click()
    page.page.locator("section.object[data-state=done] svg").first.wait_for()
    assert page.faults() == []


def test_a_folder_of_a_server_is_browsed(show, command, browsed):
    words = [command, "serve", str(browsed.parent), "--json", "--listen-root", "0"]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        url = json.loads(process.stdout.readline())["root"]
        page = show(url, "--local-cache", "off")
        page.row(browsed.name).first.click()
        page.row("events.root").first.click()
        page.open_tree()
        page.draw("x")
        page.drawn()
        page.page.wait_for_function("() => location.hash.includes('draw=')")
        again = show(url, "--local-cache", "off", fragment=page.page.evaluate("location.hash"))
        again.drawn()
        again.row("x").first.wait_for()
        assert again.histogram() == page.histogram()
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()
