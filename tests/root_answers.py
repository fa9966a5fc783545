"""Scripts that ask ROOT in a process of their own: the request goes in as JSON, the answer is a marked line of JSON."""

import json
import subprocess
import sys

#: What marks the answer among all that ROOT prints.
MARK = "answer: "


def tell(answer):
    """Prints the answer, in the process that has ROOT."""
    print(MARK + json.dumps(answer), flush=True)


def told(lines):
    """The next answer in what the process prints, a file or a list of lines; None where it ends without one."""
    return next((json.loads(line.removeprefix(MARK)) for line in lines if line.startswith(MARK)), None)


def ask(script, request, *arguments):
    """What the script answers to the request."""
    words = [sys.executable, script, *arguments]
    done = subprocess.run(words, input=json.dumps(request), capture_output=True, text=True, timeout=300)
    if (answer := told(done.stdout.splitlines())) is None:
        raise AssertionError(f"ROOT ended early: {done.stderr[-2000:]}")
    return answer
