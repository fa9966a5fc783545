"""The types of the public functions, as mypy sees them."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent / "public_types"
CHECKED = HERE / "calls.py"
#: Beside that of `make lint`, whose libraries are others.
CACHE = HERE.parent.parent / ".mypy_cache" / "public_types"


def mypy(path, folder):
    """The lines that mypy complains about, and all it says."""
    pytest.importorskip("mypy", reason="mypy is not installed: pip install -r requirements-test.txt")
    config = folder / "mypy.ini"
    config.write_text("[mypy]\npython_version = 3.10\nfollow_imports = silent\nwarn_unused_ignores = True\n")
    sources = os.pathsep.join(map(str, (HERE / "stubs", HERE.parent.parent / "python")))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", CACHE, "--no-error-summary", path],
        capture_output=True,
        text=True,
        env=os.environ | {"MYPYPATH": sources},
    )
    said = done.stdout + done.stderr
    return {int(line) for line in re.findall(rf"{re.escape(path.name)}:(\d+): error", said)}, said


def test_functions_have_the_types_that_users_expect(tmp_path):
    wrong, said = mypy(CHECKED, tmp_path)
    assert not wrong, said
    assert not said


class Otherwise(ast.NodeTransformer):
    """Another type in each assertion."""

    asserted = 0

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "assert_type":
            self.asserted += 1
            node.args[1] = ast.Name("complex")
        return node


def test_another_type_would_be_noticed(tmp_path):
    module = ast.parse(CHECKED.read_text())
    module.body = [part for part in module.body if getattr(part, "name", "") != "refused"]
    otherwise = Otherwise()
    path = tmp_path / CHECKED.name
    path.write_text(ast.unparse(otherwise.visit(module)))
    wrong, said = mypy(path, tmp_path)
    assert len(wrong) == otherwise.asserted > 40, said
