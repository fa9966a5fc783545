"""The site of the user guide: `make docs`."""

import shutil
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.errors import ExtensionError
from sphinx.pycode import ModuleAnalyzer

import sapwood

REPOSITORY = Path(__file__).parent.parent.parent
# beside this Python, or where cargo puts it
BUILT = [Path(sys.executable).parent / "sapwood", REPOSITORY / "target" / "release" / "sapwood"]

project = "Sapwood"
copyright = "the Sapwood authors, BSD-3-Clause"
release = sapwood.__version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["sample.py"]
html_theme = "furo"
html_title = f"Sapwood {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["guide.css"]

# links to headings, as on GitHub
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
add_module_names = False


# functions and methods that docstrings name must exist; types in signatures may be private
nitpicky = True
nitpick_ignore_regex = [("py:class", r".*")]


# autodoc looks for comments on attributes in the module that a class names as its own: the one that defines it
for name, module in sapwood._LATER.items():
    thing = getattr(sapwood, name)
    if isinstance(thing, type):
        thing.__module__ = f"sapwood.{module}"


# overloads say what mypy needs, the signature of the function itself all that there is to say
analyze = ModuleAnalyzer.analyze


def analyze_without_overloads(self: ModuleAnalyzer) -> None:
    analyze(self)
    self.overloads = {}


ModuleAnalyzer.analyze = analyze_without_overloads


class CommandHelp(Directive):
    """The help of `sapwood` and of each of its commands, as they print it."""

    def run(self) -> list[nodes.Node]:
        general = _help()
        verbs = [line.split()[0] for line in general.split("Commands:\n")[1].split("\n\n")[0].splitlines()]
        made = [nodes.literal_block(general, general, language="none")]
        for verb in verbs:
            if verb == "help":
                continue
            text = _help(verb)
            section = nodes.section(ids=[f"sapwood-{verb}"])
            section += nodes.title(text=f"sapwood {verb}")
            section += nodes.literal_block(text, text, language="none")
            made.append(section)
        return made


def _help(*verb: str) -> str:
    command = next((str(path) for path in BUILT if path.exists()), None) or shutil.which("sapwood")
    if command is None:
        raise ExtensionError("no sapwood command: run `make build`")
    done = subprocess.run([command, *verb, "--help"], capture_output=True, text=True, check=True)
    return done.stdout.rstrip()


#: Stands for a colon while napoleon looks for a type in front of one.
COLON = "\ue000"


def hide_colon(app, what, name, object, options, lines: list[str]) -> None:
    """Docstrings of properties are text: what is in front of a colon is no type."""
    if what in ("property", "attribute") and lines:
        lines[0] = lines[0].replace(":", COLON)


def show_colon(app, what, name, object, options, lines: list[str]) -> None:
    """The colons as they were."""
    lines[:] = [line.replace(COLON, ":") for line in lines]


def setup(app) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("command-help", CommandHelp)
    app.connect("autodoc-process-docstring", hide_colon, priority=400)
    app.connect("autodoc-process-docstring", show_colon, priority=600)
    return {"parallel_read_safe": True}
