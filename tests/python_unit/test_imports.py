"""Modules of the package import each other in one direction, as the files of a Rust crate do (circles.rs).

Imports in functions and those for type checkers count. A package and the modules in it may know each other.
"""

import ast
from pathlib import Path

import pytest

import sapwood

ROOT = Path(sapwood.__file__).parent


def modules_of(root):
    """The modules of a package: whether each is a package, and its text, by name."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        found[".".join(parts[:-1] if is_package else parts)] = is_package, path.read_text()
    return found


def imports_of(name, is_package, tree):
    """(module, name imported from it or None, node) of each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None, node
        elif isinstance(node, ast.ImportFrom):
            package = name.split(".")[: None if is_package else -1]
            front = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*front, *([node.module] if node.module else [])])
            for alias in node.names:
                yield source, alias.name, node


def is_family(a, b):
    return a == b or a.startswith(b + ".") or b.startswith(a + ".")


def graph_of(modules):
    """Which modules import which, packages and what is in them left out."""
    edges = {}
    for name, (is_package, text) in modules.items():
        package = name if is_package else name.rpartition(".")[0]
        tree = ast.parse(text)
        named = {
            f"{source}.{item}" if f"{source}.{item}" in modules else source
            for source, item, _ in imports_of(name, is_package, tree)
        }
        if any(imports_siblings(node) for node in ast.walk(tree)):
            named |= {module for module in modules if module.rpartition(".")[0] == package}
        edges[name] = {module for module in named if module in modules and not is_family(name, module)}
    return edges


def imports_siblings(node):
    """Whether this is a call such as ``import_module(f".{name}", __package__)``."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and len(node.args) == 2


def circles(modules):
    """Groups of modules that lead to each other."""
    edges = graph_of(modules)

    def reached(start):
        seen, waiting = set(), list(edges[start])
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting.extend(edges[name])
        return seen

    reach = {name: reached(name) for name in edges}
    groups = {frozenset(o for o in reach[n] if n in reach[o]) for n in edges}
    return sorted(sorted(group) for group in groups if group)


def for_type_checkers(tree):
    """The nodes under ``if TYPE_CHECKING:``."""
    blocks = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)]
    return {id(inner) for block in blocks for statement in block.body for inner in ast.walk(statement)}


def test_modules_import_in_one_direction():
    assert circles(modules_of(ROOT)) == []


def test_public_names_are_taken_from_the_package_for_types_only():
    """Otherwise a circle of modules could hide behind the package, which imports all of them."""
    modules = modules_of(ROOT)
    found = []
    for name, (is_package, text) in modules.items():
        tree = ast.parse(text)
        typing = for_type_checkers(tree)
        for source, item, node in imports_of(name, is_package, tree):
            above = source in modules and name.startswith(source + ".")
            is_module = f"{source}.{item}" in modules or item == "_core"
            if above and not is_module and id(node) not in typing:
                found.append(f"{name}: {ast.unparse(node)}")
    assert found == []


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"p.a": "from .b import x", "p.b": "def f():\n    from .a import y"}, [["p.a", "p.b"]]),
        ({"p.a": "from . import b", "p.b": "if TYPE_CHECKING:\n    from p.a import Y"}, [["p.a", "p.b"]]),
        ({"p.a": "import p.b", "p.b": "from .a import y"}, [["p.a", "p.b"]]),
        (
            {"p.a": "from .q.c import x", "p.q.c": "from ..b import y", "p.b": "from . import a"},
            [["p.a", "p.b", "p.q.c"]],
        ),
        ({"p.a": "from .b import x", "p.b": "import a"}, []),
        ({"p": "from .a import x", "p.a": "from . import x"}, []),
    ],
)
def test_circles_are_found(texts, expected):
    assert circles({name: (name == "p", text) for name, text in texts.items()}) == expected
