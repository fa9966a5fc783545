"""What packaging/ says is what the command and systemd understand."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SYSTEMD = ROOT / "packaging" / "systemd"
COMMAND = ROOT / ".venv" / "bin" / "sapwood"


def options_of(text):
    return {word.split("=")[0] for word in shlex.split(text) if word.startswith("--")}


def known_options():
    text = subprocess.run([COMMAND, "proxy", "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"--[a-z][a-z-]*", text))


def test_options_in_packaging_exist():
    unit = (SYSTEMD / "sapwood-proxy.service").read_text()
    conf = (SYSTEMD / "proxy.conf").read_text()
    container = (ROOT / "packaging" / "container" / "Containerfile").read_text()
    readme = (ROOT / "packaging" / "README.md").read_text()
    used = options_of(re.search(r"^ExecStart=(.*)$", unit, re.M)[1])
    used |= options_of(re.search(r"^SAPWOOD_PROXY_OPTIONS=(.*)$", conf, re.M)[1])
    used |= set(re.findall(r'"(--[a-z-]+)"', container))
    used |= set(re.findall(r"sapwood (--[a-z-]+)|`(--[a-z-]+)", readme)[0]) - {""}
    assert len(used) >= 5
    assert used <= known_options()


def test_the_unit_is_valid(tmp_path):
    verify = shutil.which("systemd-analyze")
    if not verify:
        pytest.skip("systemd-analyze is not installed")
    unit = (SYSTEMD / "sapwood-proxy.service").read_text()
    here = tmp_path / "sapwood-proxy.service"
    here.write_text(unit.replace("/usr/bin/sapwood", str(COMMAND.resolve())))
    done = subprocess.run([verify, "verify", here], capture_output=True, text=True, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if "sapwood-proxy" in line]
    assert not said, said
    broken = tmp_path / "broken.service"
    broken.write_text(here.read_text().replace("Type=exec", "Type=perhaps").replace("RestartSec=2", "RestartSec=soon"))
    assert (
        "broken.service"
        in subprocess.run([verify, "verify", broken], capture_output=True, text=True, check=False).stderr
    )
