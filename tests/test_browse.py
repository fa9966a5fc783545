"""The page of `sapwood browse` in a real browser: it draws what the commands print."""

import csv
import io
import json
import shlex
import subprocess
import urllib.parse
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from browse_fixtures import ENTRIES

import sapwood


def test_a_click_draws_a_branch(events, draw_json):
    events.row("x").first.click()
    events.drawn()
    assert events.histogram() == draw_json("x")
    legend = events.page.locator(".picture svg").text_content()
    assert f"entries {ENTRIES}" in legend
    assert "mean" in legend
    assert "std dev" in legend


def test_a_double_click_draws_on_top(events, draw_json):
    events.row("x").first.click()
    events.drawn()
    events.row("w").first.dblclick()
    events.drawn(2)
    below, above = (one["histogram"] for one in json.loads(events.saved("JSON")))
    assert below == draw_json("x")
    axis = below["axis"]
    assert above == draw_json("w", "--bins", f"{axis['bins']},{axis['low']},{axis['high']}")
    assert events.page.locator(".picture svg [data-histogram]").count() == 2
    events.page.get_by_role("button", name="Remove w").click()
    events.drawn(1)
    assert events.histogram() == below


@pytest.mark.parametrize(
    ("expression", "cut", "bins", "option"),
    [
        ("sqrt(y)", "", "", ""),
        ("x", "n > 2 && w < 0.5", "50,-2,2", ""),
        ("x", "w", "20,-3,3", ""),
        ("y:x", "", "10,-2,2,5,0,4", ""),
        ("y:x", "n == 1", "12,-3,3", "prof"),
    ],
)
def test_draws_hold_what_the_command_prints(events, draw_json, expression, cut, bins, option):
    events.draw(expression, cut, bins, option)
    events.drawn()
    words = [expression]
    for name, value in (("--cut", cut), ("--bins", bins), ("--option", option)):
        words += [name, value] if value else []
    assert events.histogram() == draw_json(*words)


@pytest.mark.parametrize(("expression", "option"), [("x:y:w", ""), ("x:y", "candle"), ("x:y:w:n", "para")])
def test_other_pictures_are_those_of_the_command(events, run, browsed, tmp_path, expression, option):
    events.draw(expression, "n > 2", "", option)
    events.page.get_by_alt_text(f"Drawn: {expression}").wait_for()
    events.page.wait_for_function("() => document.querySelector('img.server-picture').naturalWidth > 0")
    words = ["draw", f"{browsed / 'events.root'}:Events", expression, "n > 2", "-o", tmp_path / "a.svg"]
    done = run(*words, *(["--option", option] if option else []))
    assert done.returncode == 0, done.stderr
    assert events.saved("SVG") == (tmp_path / "a.svg").read_bytes()


@pytest.mark.parametrize("bins", ["30,-3,3", "30", "[-3,0,0.5,3]"])
def test_command_and_python_give_the_same(events, run, bins):
    events.draw("x", "n > 2", bins)
    events.drawn()
    command = events.page.get_by_role("region", name="Command").inner_text()
    python = events.page.get_by_role("region", name="Python").inner_text()
    assert command.startswith("sapwood draw ")
    assert "n > 2" in command
    *before, last = [line for line in python.splitlines() if line]
    assert len(before) == (3 if "[" in bins else 2)
    names = {}
    exec("\n".join(before), names)
    assert list(eval(last, names).values()) == events.histogram()["counts"]
    # the target of the command is the file's whole path, so that it runs anywhere
    done = run(*shlex.split(command)[1:], "--json")
    assert json.loads(done.stdout)["histogram"] == events.histogram()


def test_pictures_and_tables_are_saved(events):
    events.draw("x", "", "30,-3,3")
    events.drawn()
    counts = events.histogram()["counts"]
    assert ElementTree.fromstring(events.saved("SVG")).tag.endswith("svg")
    assert events.saved("PNG").startswith(b"\x89PNG")
    rows = list(csv.DictReader(io.StringIO(events.saved("CSV").decode())))
    assert [float(row["count"]) for row in rows] == counts


def test_a_dragged_range_is_a_zoom_or_a_cut(events, draw_json):
    events.draw("x", "", "40,-4,4")
    events.drawn()

    def drag():
        area = events.page.locator(".drag-area").bounding_box()
        middle = area["y"] + area["height"] / 2
        events.page.mouse.move(area["x"] + area["width"] * 0.4, middle)
        events.page.mouse.down()
        events.page.mouse.move(area["x"] + area["width"] * 0.6, middle, steps=4)
        events.page.mouse.up()

    drag()
    events.page.get_by_role("button", name="Zoom", exact=True).click()
    whole = events.page.get_by_role("button", name="Whole range")
    assert whole.is_enabled()
    whole.click()
    drag()
    events.page.get_by_role("button", name="Add to cut").click()
    events.drawn()
    cut = events.page.input_value("#cut")
    assert cut.startswith("x >= ")
    assert " && x < " in cut
    assert events.histogram() == draw_json("x", "--cut", cut, "--bins", "40,-4,4")


@pytest.mark.parametrize(("box", "text", "column"), [("expression", "x + nix", 4), ("cut", "n > 2 && nix", 9)])
def test_an_error_is_marked_at_its_column(events, box, text, column):
    if box == "cut":
        events.page.fill("#expression", "x")
    events.page.fill(f"#{box}", text)
    events.page.press(f"#{box}", "Enter")
    events.page.locator("#draw-fault").wait_for()
    assert "nix" in events.page.locator("#draw-fault").inner_text()
    events.page.locator(f"#{box}[aria-invalid=true]").wait_for()
    mark = events.page.locator(f".expression:has(#{box}) .mark")
    assert mark.get_attribute("data-column") == str(column)


def test_names_are_completed(events):
    events.page.fill("#expression", "")
    events.page.locator("#expression").press_sequentially("sqrt")
    option = events.page.get_by_role("option", name="sqrt( function", exact=True)
    option.wait_for()
    events.page.press("#expression", "ArrowDown")
    events.page.press("#expression", "Enter")
    events.page.wait_for_function("() => document.querySelector('#expression').value === 'sqrt('")
    events.page.locator("#expression").press_sequentially("x^2+sqrt(y)*w)")
    assert events.page.input_value("#expression") == "sqrt(x^2+sqrt(y)*w)"


def test_the_table_shows_what_scan_prints(events, run, browsed):
    events.view("entries")
    events.page.fill("#columns", "n, x")
    events.page.get_by_role("button", name="Show").click()
    events.page.get_by_role("columnheader", name="n", exact=True).wait_for()

    def rows():
        found = events.page.locator(".table-box tbody tr")
        found.nth(5).wait_for()
        return [row.split("\t") for row in found.all_inner_texts()]

    done = run("scan", f"{browsed / 'events.root'}:Events", "n:x", "--json")
    printed = json.loads(done.stdout)["rows"]
    for entry, n, x in rows()[:5]:
        assert int(n) == printed[int(entry)][0]
        assert float(x) == pytest.approx(printed[int(entry)][1], rel=1e-4)
    python = events.page.get_by_role("region", name="Python").inner_text()
    *before, last = [line for line in python.splitlines() if line]
    names = {}
    exec("\n".join(before), names)
    assert [list(row) for row in eval(last, names)[:5]] == printed[:5]
    events.page.fill("#go-to", str(ENTRIES - 100))
    events.page.press("#go-to", "Enter")
    events.page.locator(".table-box tbody th", has_text=str(ENTRIES - 100)).wait_for()
    entry, n, x = next(row for row in rows() if row[0] == str(ENTRIES - 100))
    assert int(n) == printed[int(entry)][0]
    assert float(x) == pytest.approx(printed[int(entry)][1], rel=1e-4)


def test_objects_are_drawn_by_jsroot(events):
    before = len(events.seen.requests)
    events.row("spectrum").first.click()
    events.page.locator("section.object[data-state=done] svg").first.wait_for()
    asked = events.seen.requests[before:]
    assert any("api/bytes" in url for url in asked)
    assert any("/assets/" in url for url in asked)
    assert json.loads(events.saved("JSON"))["fName"] == "spectrum"
    events.row("below").first.click()
    events.row("plane").first.click()
    events.page.locator("section.object[data-state=done] svg").first.wait_for()
    events.page.get_by_role("heading", name="plane").wait_for()


def test_an_object_is_kept_as_picture_command_and_python(events, run):
    events.row("spectrum").first.click()
    events.page.locator("section.object[data-state=done] svg").first.wait_for()
    assert events.saved("PNG").startswith(b"\x89PNG")
    command = events.page.get_by_role("region", name="Command").inner_text()
    *before, last = events.page.get_by_role("region", name="Python").inner_text().splitlines()
    shown = json.loads(events.saved("JSON"))
    names = {}
    exec("\n".join(before), names)
    assert list(eval(last, names).values()) == shown["fArray"][1:-1]
    done = run(*shlex.split(command)[1:], "--json")
    assert done.returncode == 0, done.stderr
    assert "spectrum" in done.stdout


def test_each_step_through_a_million_rows_is_one_row(show, long):
    """A pixel of the scroll bar is many entries there: keys and the wheel must not go by it."""
    page = show(long)
    page.open_tree("Long")
    page.view("entries")
    first = page.page.locator(".table-box tbody tr th").first

    def at(entry):
        page.page.wait_for_function(
            "entry => document.querySelector('.table-box tbody tr th')?.textContent === String(entry)", arg=entry
        )
        assert first.inner_text() == str(entry)

    at(0)
    page.page.fill("#go-to", "700001")
    page.page.press("#go-to", "Enter")
    at(700_001)
    page.page.locator(".table-box").focus()
    for step in range(1, 4):
        page.page.keyboard.press("ArrowDown")
        at(700_001 + step)
    page.page.keyboard.press("ArrowUp")
    at(700_003)
    page.page.locator(".table-box").hover()
    page.page.mouse.wheel(0, 240)
    at(700_013)
    page.page.wait_for_function("() => location.hash.includes('entry=700013')")
    again = show(long, fragment=page.page.evaluate("location.hash"))
    again.page.locator(".table-box tbody th", has_text="700013").wait_for()


def test_a_link_reopens_the_range_and_scale(show, browsed):
    fragment = "#target=0&object=Events%3B1&kind=tree&view=plot&look=log%2Cx%3A-1%3A1.5&draw="
    draw = '["x","","40,-4,4",""]'
    page = show(browsed / "events.root", fragment=fragment + urllib.parse.quote(draw))
    page.drawn()
    assert page.page.get_by_label("Log scale").is_checked()
    assert page.page.get_by_role("button", name="Whole range").is_enabled()
    labels = page.page.locator(".picture svg text").all_text_contents()
    assert "1.5" in labels
    assert "-4" not in labels
    page.row("w").first.click()
    page.drawn()
    assert page.page.get_by_role("button", name="Whole range").is_disabled()


def test_the_map_shows_every_basket_and_its_key(events, run, browsed):
    events.view("map")
    canvas = events.page.locator(".map canvas")
    canvas.wait_for()
    trees = json.loads(run("map", browsed / "events.root", "--json").stdout)["trees"]
    baskets = sum(len(branch["baskets"]) for tree in trees for branch in tree["branches"])
    assert int(canvas.get_attribute("data-regions")) >= baskets
    canvas.focus()
    events.page.keyboard.press("ArrowRight")
    details = events.page.locator(".region")
    details.wait_for()
    seen = set()
    for _ in range(60):
        text = details.inner_text()
        seen.add(text)
        if "TBasket" in text:
            break
        events.page.keyboard.press("ArrowRight")
        events.page.wait_for_timeout(50)
    assert any("TBasket" in text for text in seen)
    status = events.page.locator(".map [role=status]").first
    before = status.inner_text()
    events.page.get_by_role("button", name="Zoom to this region").click()
    events.page.wait_for_function(
        "before => document.querySelector('.map [role=status]').innerText !== before", arg=before
    )


def test_the_doctor_says_what_a_rewrite_gains(events):
    events.view("doctor")
    events.page.get_by_role("heading", name="No damage was found").wait_for()
    table = events.page.locator(".cost table tbody")
    table.wait_for()
    before = table.inner_text()
    events.page.locator("#rtt").fill("200")
    events.page.wait_for_function(
        "before => document.querySelector('.cost table tbody').innerText !== before", arg=before
    )


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Objects as ROOT writes them: a graph, functions, a profile, text."""
    ROOT = pytest.importorskip("ROOT")
    path = tmp_path_factory.mktemp("objects") / "objects.root"
    file = ROOT.TFile(str(path), "RECREATE")
    point = ROOT.TGraphErrors(3)
    for i in range(3):
        point.SetPoint(i, i + 0.5, i * i)
        point.SetPointError(i, 0.25, 0.125)
    point.Write("graph")
    profile = ROOT.TProfile("profile", "", 4, 0, 4)
    for i in range(40):
        profile.Fill(i % 4, i)
    profile.Write()
    curve = ROOT.TF1("curve", "[0]*x^2.5+gaus(1)", 0, 4)
    curve.SetParameters(2, 1, 2, 0.5)
    curve.Write()
    ROOT.TF1("bessel", "TMath::BesselJ0(x)", 0, 4).Write()
    ROOT.TNamed("note", "some <b>text</b>").Write()
    expected = [[profile.GetBinContent(i), profile.GetBinError(i)] for i in range(1, 5)]
    largest = curve.Eval(4)
    file.Close()
    return path, expected, largest


def test_objects_with_bins_or_points_are_saved_as_tables(show, objects):
    path, expected, _ = objects
    page = show(path)

    def table(name):
        page.row(name).first.click()
        page.page.get_by_role("heading", name=name).wait_for()
        page.page.locator("section.object[data-state=done] div.jsroot > svg").wait_for()
        rows = csv.DictReader(io.StringIO(page.saved("CSV").decode()))
        return [{key: float(value) for key, value in row.items()} for row in rows]

    assert table("graph") == [{"x": i + 0.5, "y": i * i, "error_x": 0.25, "error_y": 0.125} for i in range(3)]
    rows = table("profile")
    assert [(row["low"], row["high"]) for row in rows] == [(i, i + 1) for i in range(4)]
    assert [[row["mean"], row["error"]] for row in rows] == [pytest.approx(pair) for pair in expected]


def test_a_function_is_computed_or_refused(show, objects):
    """The policy of the page forbids JSROOT to make programs of formulas: it showed an empty picture."""
    path, _, largest = objects
    page = show(path)
    page.row("curve").first.click()
    page.page.locator("section.object[data-state=done] div.jsroot > svg").wait_for()
    labels = page.page.locator("div.jsroot > svg text").all_text_contents()
    assert max(float(label) for label in labels if label.isdecimal()) == pytest.approx(largest, rel=0.2)
    page.row("bessel").first.click()
    page.page.locator("section.object[data-state=failed]").wait_for()
    assert "BesselJ0" in page.page.get_by_role("alert").inner_text()
    page.row("note").first.click()
    page.page.locator("section.object[data-state=done] .object-text").wait_for()
    assert json.loads(page.saved("JSON"))["fTitle"] == "some <b>text</b>"
    assert "some <b>text</b>" in page.page.locator("section.object .object-text").inner_text()


def test_pictures_in_three_dimensions_are_saved_as_a_table(events):
    events.draw("x:y:w", "", "2,-4,4,3,0,9,4,0,1")
    events.page.get_by_alt_text("Drawn: x:y:w").wait_for()
    rows = list(csv.DictReader(io.StringIO(events.saved("CSV").decode())))
    assert [float(row["count"]) for row in rows] == np.ravel(events.histogram()["counts"]).tolist()
    assert len({(row["x_low"], row["y_low"], row["z_low"]) for row in rows}) == len(rows) == 24


def test_views_are_saved_as_json_and_reopened_by_a_link(events, show, browsed):
    def saved():
        with events.page.expect_download() as download:
            events.page.get_by_role("button", name="Save as JSON", exact=True).click()
        return json.loads(Path(download.value.path()).read_text())

    events.draw("x")
    events.drawn()
    events.view("io")
    events.page.get_by_role("button", name="Time", exact=True).click()
    kept = saved()
    assert len(kept["requests"]) == int(events.page.locator(".io svg").get_attribute("data-requests"))
    assert kept["io"]["wanted_bytes"] > 0
    events.view("doctor")
    events.page.locator("#rtt").fill("200")
    events.page.get_by_role("heading", name="No damage was found").wait_for()
    assert saved()["damage"]["healthy"]
    events.view("map")
    canvas = events.page.locator(".map canvas")
    canvas.wait_for()
    regions = saved()["regions"]
    assert len(regions["offset"]) == int(canvas.get_attribute("data-regions"))
    canvas.focus()
    for key in ("ArrowRight", "ArrowRight", "+", "ArrowDown"):
        events.page.keyboard.press(key)
    events.page.locator(".branch-choice input[type=checkbox]:checked").first.uncheck()
    chosen = events.page.locator(".region").inner_text()
    sight = events.page.locator(".map [role=status]").first.inner_text()
    events.page.wait_for_function("() => /map=\\d/.test(location.hash) && location.hash.includes('network=200')")
    events.page.wait_for_timeout(300)

    again = show(browsed / "events.root", fragment=events.page.evaluate("location.hash"))
    again.page.locator(".map [role=status]", has_text=sight).first.wait_for()
    assert again.page.locator(".region").inner_text().split()[:12] == chosen.split()[:12]
    assert again.page.locator(".branch-choice input:checked").count() == 3
    again.view("doctor")
    assert again.page.locator("#rtt").input_value() == "200"
    again.view("io")
    assert again.page.get_by_role("button", name="Time", exact=True).get_attribute("aria-pressed") == "true"


def test_the_doctor_says_what_is_damaged_in_words(show, browsed, tmp_path):
    path = tmp_path / "truncated.root"
    path.write_bytes((browsed / "events.root").read_bytes()[:-40])
    page = show(path)
    page.open_tree()
    page.view("doctor")
    page.page.get_by_role("heading", name="The file is damaged").wait_for()
    findings = page.page.locator(".doctor li").all_inner_texts()
    assert any("truncated" in finding for finding in findings)
    assert not any("{" in finding for finding in findings)


@pytest.fixture
def far(command, browsed):
    """The same folder from a server that is slow."""
    words = [command, "serve", str(browsed), "--json", "--delay", "100ms", "--bandwidth", "600kbit"]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    yield json.loads(process.stdout.readline())["http"]
    process.terminate()
    process.wait(10)
    process.stdout.close()


def test_a_remote_draw_shows_its_io_and_stops(show, far, draw_json):
    page = show(f"{far}events.root", "--local-cache", "off")
    page.open_tree()
    page.draw("x:y:w", "", "4,-4,4,4,0,9,4,0,1")
    page.page.locator(".jobs [data-state=running]").wait_for()
    page.view("io")
    page.page.locator(".counters").wait_for()
    page.page.get_by_role("button", name="Stop").click()
    page.view("plot")
    page.page.locator(".jobs [data-state=stopped]").wait_for()
    page.draw("n")
    page.drawn()
    assert page.histogram() == draw_json("n")
    page.view("io")
    counters = page.page.locator(".counters").inner_text()
    assert "Round trips" in counters
    assert int(page.page.locator(".io svg").last.get_attribute("data-requests")) > 0


def test_the_map_of_an_ntuple_shows_every_page(show, run, tmp_path):
    path = tmp_path / "ntuple.root"
    with sapwood.recreate(path) as file:
        ntuple = file.mkntuple("Events", {"x": "f8", "hits": "var * {t: float32}"}, page_size=1024, cluster_size=4000)
        for begin in range(0, 4000, 500):
            numbers = np.arange(begin, begin + 500)
            ntuple.extend({"x": np.sqrt(numbers), "hits": [[{"t": float(n)}] * (n % 3) for n in numbers]})
    page = show(path)
    page.row("Events").first.click()
    page.view("map")
    canvas = page.page.locator(".map canvas")
    canvas.wait_for()
    (tree,) = json.loads(run("map", path, "--json").stdout)["trees"]
    pages = sum(len(branch["baskets"]) for branch in tree["branches"])
    assert pages > 30
    assert int(canvas.get_attribute("data-regions")) >= pages
    canvas.focus()
    details, seen = page.page.locator(".region"), set()
    for _ in range(pages + 20):
        page.page.keyboard.press("ArrowRight")
        details.wait_for()
        seen.add(details.inner_text())
        if any("hits" in text for text in seen) and any("page list" in text for text in seen):
            break
    words = "\n".join(seen)
    assert "header of Events" in words and "page list of Events" in words and "hits.t" in words, words
