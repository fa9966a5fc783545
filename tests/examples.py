"""The examples of the documentation: found in Markdown pages, run page by page in a directory of sample files."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path

#: What an example may be written in. `text` is output or a picture of something: nothing to run.
LANGUAGES = ("python", "console", "rust", "text")
#: The line above a block that is not run; readers see it, too.
NOT_RUN = re.compile(r"^\*Not run in the tests: (.+)\*$")
FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*(\S*)")
MATCHES = doctest.OutputChecker().check_output
FLAGS = doctest.ELLIPSIS


@dataclass(frozen=True)
class Block:
    """One example."""

    page: Path
    #: Of its first line, from 1 on.
    line: int
    language: str
    text: str
    #: Why it is not run; None when it is.
    not_run: str | None = None

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def fenced(page: Path) -> list[Block]:
    """The blocks between fences, directives of the site (`{toctree}`) left out."""
    lines = page.read_text(encoding="utf-8").splitlines()
    blocks, number = [], 0
    while number < len(lines):
        opening = FENCE.match(lines[number])
        number += 1
        if not opening:
            continue
        indent, fence, language = opening.groups()
        first = number
        while not lines[number].strip().startswith(fence):
            number += 1
        body = [line[len(indent) :] for line in lines[first:number]]
        number += 1
        if not language.startswith("{"):
            above = next((line for line in reversed(lines[: first - 1]) if line.strip()), "")
            marked = NOT_RUN.match(above.strip())
            text = "\n".join(body) + "\n"
            blocks.append(Block(page, first + 1, language, text, marked and marked[1]))
    return blocks


def indented(page: Path) -> list[Block]:
    """The blocks that are indented by four spaces, as in the README; their language follows from their first word."""
    text = page.read_text(encoding="utf-8")
    # fenced ones become empty lines
    fence = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
    text = fence.sub(lambda m: "\n" * m[0].count("\n"), text)
    lines = [*text.splitlines(), "end"]
    blocks: list[Block] = []
    held: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("    ") or (held and not line.strip()):
            held.append(line[4:])
            continue
        if held:
            text = "\n".join(held).rstrip("\n") + "\n"
            blocks.append(Block(page, number - len(held), _language(text), text))
            held = []
    return blocks


def _language(text: str) -> str:
    word = text.split()[0]
    if word in ("sapwood", "$"):
        return "console"
    if word in ("import", "from", "with", ">>>"):
        return "python"
    if word in ("let", "use", "fn") or word.startswith("#["):
        return "rust"
    return word


def commands(text: str) -> list[tuple[str, str]]:
    """(command, output that is shown) of a console block; without prompts, each line is a command."""
    prompts = any(line.startswith("$ ") for line in text.splitlines())
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ ") or (not prompts and line.strip()):
            found.append((line.removeprefix("$ "), ""))
        elif found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1] = found[-1][0][:-1] + line.strip(), ""
        elif found:
            found[-1] = found[-1][0], found[-1][1] + line + "\n"
    return found


class Run:
    """Runs the blocks of one page. `replace` has what stands for the hosts of the page."""

    def __init__(self, folder: Path, command: str, replace: dict[str, str], names: dict[str, object] | None = None):
        self.folder, self.replace = folder, replace
        #: Number of blocks that were run.
        self.count = 0
        self._module = types.ModuleType("documentation_page")
        # where pickle looks for the functions that a page gives to other processes
        sys.modules[self._module.__name__] = self._module
        self._module.__dict__.update(names or {})
        self._background: list[subprocess.Popen[str]] = []
        path = os.pathsep.join([str(Path(command).parent), str(Path(sys.executable).parent), os.environ["PATH"]])
        private = {"HOME": str(folder), "TMPDIR": str(folder), "PYTHONWARNINGS": "error"}
        secret = [name for name in os.environ if name.startswith("BEARER_TOKEN") or name.lower().endswith("_proxy")]
        self._environment = {k: v for k, v in os.environ.items() if k not in secret} | private | {"PATH": path}

    def block(self, block: Block) -> None:
        """Runs one block.

        Raises:
            AssertionError: it fails, or prints something else than the page shows.
        """
        self.count += 1
        text = block.text
        for placeholder, real in self.replace.items():
            text = text.replace(placeholder, real)
        script = re.match(r"# (\w+\.py)\n", text)
        if script:
            (self.folder / script[1]).write_text(text)
        elif block.language == "python":
            self._doctest(block, text) if text.startswith(">>> ") else self._exec(block, text)
        else:
            for command, shown in commands(text):
                self._command(block, command, shown)

    def _exec(self, block: Block, text: str) -> None:
        # line numbers of a traceback are those of the page
        code = compile("\n" * (block.line - 1) + text, str(block.page), "exec", dont_inherit=True)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, self._module.__dict__)

    def _doctest(self, block: Block, text: str) -> None:
        test = doctest.DocTestParser().get_doctest(text, self._module.__dict__, str(block), str(block.page), block.line)
        test.globs = self._module.__dict__
        told = io.StringIO()
        runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
        runner.run(test, out=told.write, clear_globs=False)
        assert runner.failures == 0, told.getvalue()

    def _command(self, block: Block, command: str, shown: str) -> None:
        if command.startswith("sapwood browse "):
            command = command.replace("browse", "browse --no-open", 1)
        if command.startswith(("sapwood serve ", "sapwood proxy ", "sapwood browse ")):
            self._serve(block, command, shown)
            return
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        told = "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"
        # an error that is shown comes with a status, and so does damage that the doctor finds
        fails = re.search(r"^(sapwood: (?!lost)|damage in \d+ place)", shown, re.MULTILINE) is not None
        at = f"{block}: {command}"
        assert fails == (done.returncode != 0), f"{at}: status {done.returncode}\n{told}"
        assert not shown.strip() or MATCHES(shown, told, FLAGS), f"{at}\nshown:\n{shown}\nprinted:\n{told}"

    def _serve(self, block: Block, command: str, shown: str) -> None:
        """Starts a server, which runs until the page ends."""
        words = ["bash", "-c", f"exec {command}"]
        server = subprocess.Popen(
            words, cwd=self.folder, env=self._environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        self._background.append(server)
        assert server.stdout is not None
        told = server.stdout.readline()
        assert told, f"{block}: {command} ended with {server.wait(10)}"
        assert not shown or MATCHES(shown, told, FLAGS), f"{block}: {command}\nshown:\n{shown}\nprinted:\n{told}"

    def close(self) -> None:
        """Stops what the page started."""
        for server in self._background:
            server.terminate()
            server.wait(10)
            server.stdout.close()
        sys.modules.pop(self._module.__name__, None)
