"""`sapwood.browse`: the server of the page beside Python."""

import io
import json
import urllib.request

import numpy as np
import pytest

import sapwood


@pytest.fixture
def file(tmp_path):
    with sapwood.recreate(tmp_path / "a.root") as made:
        made["t"] = {"x": np.arange(10.0)}
    return tmp_path / "a.root"


def get(browsing, route):
    with urllib.request.urlopen(browsing.url + route, timeout=60) as answer:
        return json.loads(answer.read())


def test_it_serves_until_it_is_closed(file):
    with sapwood.browse(file, open_browser=False) as browsing:
        assert get(browsing, "api/session")["targets"][0]["kind"] == "file"
        assert get(browsing, "api/tree?target=0&object=t")["entries"] == 10
        assert browsing.url in browsing._repr_html_()
    with pytest.raises(OSError, match=r"refused|reset|closed"):
        get(browsing, "api/session")
    browsing.close()


def test_the_page_is_opened_where_there_is_no_notebook(file, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with sapwood.browse(file) as browsing:
        assert opened == [browsing.url]


def test_a_tree_is_shown_first(file):
    view = "#target=0&object=t%3B1&kind=tree&view=plot"
    with sapwood.open(file) as opened:
        for target in (opened["t"], f"{file}:t", {file: "t"}):
            with sapwood.browse(target, open_browser=False) as browsing:
                assert browsing.url.endswith(view)
        with sapwood.browse(opened, open_browser=False) as browsing:
            assert get(browsing, "api/tree?target=0&object=t")["entries"] == 10
    with pytest.raises(KeyError):
        sapwood.browse(f"{file}:nix", open_browser=False)


def test_what_cannot_be_served(tmp_path, file):
    with sapwood.open(io.BytesIO(file.read_bytes())) as opened:
        for target in (opened, opened["t"]):
            with pytest.raises(sapwood.InvalidError, match="<BytesIO> has no path or URL"):
                sapwood.browse(target, open_browser=False)
    with pytest.raises(FileNotFoundError):
        sapwood.browse(tmp_path / "nothere", open_browser=False)
    with pytest.raises(sapwood.InvalidError, match="port must be"):
        sapwood.browse(port=65536, open_browser=False)
    with sapwood.browse(open_browser=False) as browsing:
        port = int(browsing.url.split(":")[2].split("/")[0])
        with pytest.raises(OSError, match="cannot listen"):
            sapwood.browse(port=port, open_browser=False)
