"""Every example of the guide, the cookbook and the README runs, and every link of the documentation leads somewhere.

An example that cannot run is marked above it, for readers too: `*Not run in the tests: REASON*`.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
from dataclasses import dataclass
from multiprocessing.pool import ThreadPool
from pathlib import Path

import numpy as np
import pytest
from examples import LANGUAGES, Block, Run, fenced, indented
from servers import SERVERS, Skip, free_port

REPOSITORY = Path(__file__).parent.parent
GUIDE = REPOSITORY / "docs" / "guide"
README = REPOSITORY / "README.md"
PAGES = sorted(GUIDE.glob("*.md"))
RUST = REPOSITORY / "crates" / "sapwood" / "examples" / "guide.rs"
#: What stands for an XRootD server in examples; behind it comes a path below the directory of sample files.
XROOTD = {"root://example.org//data/": "", "root://host//data/": "data/"}


@pytest.fixture(scope="module")
def sample(public):
    """A directory with the files that sample.py writes, and itself."""
    folder = public / "documentation"
    folder.mkdir()
    shutil.copy(GUIDE / "sample.py", folder)
    spec = importlib.util.spec_from_file_location("sample", folder / "sample.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(folder)
    return folder


@pytest.fixture
def pages(sample, public, command, monkeypatch):
    """pages(page, text): runs the blocks of a page in a directory of its own, with the servers that its text names."""
    started = []

    def begin(page: Path, text: str, names=None) -> Run:
        folder = public / f"{page.stem}-{len(list(public.iterdir()))}"
        shutil.copytree(sample, folder)
        replace = {"8080": str(free_port())}
        if "https://example.org/" in text:
            server = SERVERS["sapwood"](folder, command)
            started.append(server)
            replace["https://example.org/"] = f"http://127.0.0.1:{server.port}/"
        if any(host in text for host in XROOTD):
            try:
                server = SERVERS["xrootd"](folder, command)
            except Skip:
                # without one these examples read the files themselves
                replace |= XROOTD
            else:
                started.append(server)
                replace |= {host: f"root://127.0.0.1:{server.port}//data/{path}" for host, path in XROOTD.items()}
        monkeypatch.chdir(folder)
        run = Run(folder, command, replace, names)
        started.append(run)
        return run

    yield begin
    for each in reversed(started):
        (each.close if isinstance(each, Run) else each.stop)()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_of_the_guide(page, pages):
    if page.stem == "dask":
        pytest.importorskip("dask_awkward", reason="dask-awkward is not installed")
    blocks = fenced(page)
    run = pages(page, page.read_text())
    for block in blocks:
        if block.not_run is None and block.language in ("python", "console"):
            run.block(block)
    # counted from the text alone: a block that was not understood would not be run, and nobody would know
    opened = re.findall(r"^ *```(python|console)\b", page.read_text(), re.MULTILINE)
    marked = re.findall(r"^\*Not run in the tests: .+\*$", page.read_text(), re.MULTILINE)
    assert run.count == len(opened) - len(marked)


def test_every_block_is_an_example_or_says_what_it_is():
    for page in PAGES:
        assert not indented(page), f"{page.name}: put code between fences, so that it is run"
        for block in fenced(page):
            assert block.language in LANGUAGES, f"{block}: write one of {', '.join(LANGUAGES)} behind the fence"
            hidden = block.language == "text" and re.search(r"^(\$ |import |sapwood )", block.text, re.MULTILINE)
            assert not hidden, f"{block}: this is an example, not text"


def readme_names(sample_of):
    """What the README's Python leaves to the reader."""
    import awkward as ak

    @dataclass
    class Point:
        x: float
        y: float

    def work(merger):
        with merger.producer() as tree:
            tree.extend({"x": np.zeros(10)})

    batch = {"x": np.arange(2.0), "hits": [[[1.0]], []], "p": [Point(1.0, 2.0), Point(3.0, 4.0)]}
    pool = ThreadPool(2)
    more = {"x": np.arange(1000), "Muon": ak.zip({"pt": sample_of["Muon"].pt})}
    return {
        "ak": ak,
        "Point": Point,
        "work": work,
        "pool": pool,
        "batches": [batch, batch],
        "numbers": np.arange(1000),
        "more": more,
    }


def test_examples_of_the_readme(pages, sample):
    blocks = [b for b in [*fenced(README), *indented(README)] if b.language != "rust"]
    # make's own targets build everything and run this very test
    runnable = [b for b in blocks if b.language in ("python", "console") and not b.text.startswith("make ")]
    assert [b.text.split()[0] for b in blocks if b not in runnable] == ["make"] * (len(blocks) - len(runnable))
    assert {b.language for b in runnable} == {"python", "console"}
    spec = importlib.util.spec_from_file_location("sample", sample / "sample.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = readme_names(module.events(0, 1000))
    run = pages(README, README.read_text(), names)
    # its examples go beyond the guide's ten thousand entries, and name more files
    module.write(run.folder / "events.root", 0, 50_000)
    (run.folder / "data").mkdir()
    for part in sample.glob("part-*.root"):
        shutil.copy(part, run.folder / "data")
    shutil.copy(sample / "damaged.root", run.folder / "crashed.root")
    with names["pool"]:
        for block in runnable:
            run.block(block)
    assert run.count == len(runnable)


def tokens(rust: str) -> str:
    """Rust without comments, spaces and the commas that rustfmt sets."""
    rust = re.sub(r"//.*", "", rust)
    return re.sub(r",([}\])])", r"\1", re.sub(r"\s+", "", rust))


def rust_blocks() -> list[Block]:
    return [b for page in [*PAGES, README] for b in [*fenced(page), *indented(page)] if b.language == "rust"]


def test_rust_of_the_guide_and_the_readme_is_compiled():
    compiled = tokens(RUST.read_text())
    assert rust_blocks()
    for block in rust_blocks():
        for part in block.text.split("\n\n"):
            assert tokens(part) in compiled, f"{block}: these lines are not in {RUST.relative_to(REPOSITORY)}:\n{part}"


def test_rust_of_the_guide_prints_what_the_page_shows(sample, public):
    program = REPOSITORY / "target" / "release" / "examples" / "guide"
    if not program.exists():
        pytest.skip("cargo build --release -p sapwood --example guide was not run")
    folder = public / "rust-of-the-guide"
    shutil.copytree(sample, folder)
    done = subprocess.run([program], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    (shown,) = [b.text for b in fenced(GUIDE / "rust.md") if b.language == "text"]
    assert done.stdout == shown


def rows(page: Path, title: str) -> list[tuple[list[str], list[str]]]:
    """(code of the first column, code of the second) of the rows of all tables whose second column has this title."""
    found, inside = [], False
    for line in page.read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            inside = False
        elif cells[1:] == [title]:
            inside = True
        elif inside and set(cells[0]) - set("-: "):
            codes = [[code.replace("\\|", "|") for code in re.findall(r"`([^`]+)`", cell)] for cell in cells]
            found.append((codes[0], codes[1]))
    return found


def test_rows_of_the_root_cookbook(pages):
    page = GUIDE / "from-root.md"
    run = pages(page, page.read_text())
    for block in fenced(page):
        run.block(block)
    ran = 0
    for _, sapwood in rows(page, "Sapwood"):
        assert sapwood, "a row without code: say how it is done in a sentence below the table"
        for code in sapwood:
            language = "console" if code.startswith("sapwood ") else "python"
            run.block(Block(page, 1, language, code + "\n"))
            ran += 1
    assert ran >= 30


def test_rows_of_the_uproot_cookbook(pages):
    uproot = pytest.importorskip("uproot")
    import awkward as ak
    import hist

    import sapwood

    page = GUIDE / "from-uproot.md"
    run = pages(page, page.read_text())
    here: dict = {"uproot": uproot, "ak": ak, "np": np, "hist": hist}
    there: dict = {"sapwood": sapwood, "ak": ak, "np": np, "hist": hist}
    found = rows(page, "Sapwood")
    assert len(found) >= 30
    for left, right in found:
        (old,), (new,) = left, right
        for host, real in run.replace.items():
            old, new = old.replace(host, real), new.replace(host, real)
        values = [value(old, here), value(new, there)]
        if all(isinstance(v, (bool, int, str, list, dict)) for v in values):
            assert values[0] == values[1], f"{old}\n{new}"


def value(code: str, names: dict) -> object:
    """Runs one line; its value when it is an expression."""
    if isinstance(ast.parse(code).body[-1], ast.Expr):
        return eval(code, names)
    exec(code, names)
    return None


def test_the_reference_has_every_public_name():
    import sapwood

    documented = re.findall(r"^\.\. auto\w+:: (?:sapwood\.)?(\w+)", (GUIDE / "python.md").read_text(), re.MULTILINE)
    assert set(documented) >= {name for name in sapwood.__all__ if name != "__version__"}
    assert len(documented) == len(set(documented))


def test_options_and_names_in_the_text_exist(run):
    import sapwood

    verbs = re.findall(r"^  (\w+)  ", run("--help").stdout.split("Commands:")[1].split("Options:")[0], re.MULTILINE)
    assert len(verbs) > 10
    known = set(re.findall(r"--[a-z-]+", "".join(run(verb, "--help").stdout for verb in verbs)))
    for page in [*PAGES, README]:
        # not those of other programs
        text = re.sub(
            r"^(?:\$ (?:make|cargo|pip) |.*`(?:hadd|rootls|rootprint) ).*$", "", page.read_text(), flags=re.MULTILINE
        )
        options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--help", "--no-such-option"}
        assert options <= known, page.name
        for name in re.findall(r"\bsapwood\.(\w+)\b(?!\.(?:root|io))", text):
            # coffea may not be installed
            is_module = importlib.util.find_spec(f"sapwood.{name}") is not None
            assert is_module or hasattr(sapwood, name), f"{page.name}: sapwood.{name}"


def test_the_table_of_errors_is_that_of_the_package():
    import builtins

    import sapwood

    text = (GUIDE / "errors.md").read_text()
    table = re.findall(r"^\| `(\w+(?:Error|Warning))` \|(?: ([`\w, ]+) \|)?", text, re.MULTILINE)
    assert {name for name, _ in table} == {
        name for name in sapwood.__all__ if re.search("(Error|Warning)$", name) and name != "Error"
    }
    for name, built_in in table:
        known = getattr(sapwood, name)
        if issubclass(known, sapwood.Error):
            assert all(issubclass(known, getattr(builtins, base)) for base in re.findall(r"\w+", built_in)), name


def slug(heading: str) -> str:
    """The anchor that GitHub and the site give a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def test_links_lead_somewhere():
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md"), *(REPOSITORY / ".github").rglob("*.md")]
    broken = []
    for page in pages:
        text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        text = re.sub(r"^    .*$|`[^`\n]*`", "", text, flags=re.MULTILINE)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            if not there.exists():
                broken.append(f"{page.relative_to(REPOSITORY)}: {target}")
                continue
            headings = re.findall(r"^#+ (.*)$", there.read_text(), re.MULTILINE) if there.suffix == ".md" else []
            if anchor and anchor not in map(slug, headings):
                broken.append(f"{page.relative_to(REPOSITORY)}: {target}")
    assert not broken, "\n".join(broken)
