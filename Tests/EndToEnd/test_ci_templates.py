"""The GitHub Action and the GitLab template, run here step by step. The program is on PATH, in the place of its installation."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from harness import clips as clip
from harness.rtcast import BINARY, ROOT, surroundings

CI = ROOT / "packaging/ci"


@pytest.fixture
def workspace(tmp_path):
    """A folder to work in and an environment in which `rtcast` is the program under test."""
    bin, folder = tmp_path / "bin", tmp_path / "work"
    bin.mkdir()
    folder.mkdir()
    (bin / "rtcast").symlink_to(BINARY)
    return folder, surroundings(env={"PATH": f"{bin}:{os.environ['PATH']}"})


def shell(script, folder, environment):
    """A step as the services run it: bash that ends at the first failure."""
    return subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


def action():
    return yaml.safe_load((CI / "github/action.yml").read_text())


def github(inputs, folder, environment):
    """Runs the steps of the action that have a script, with these inputs."""
    page = action()
    values = {name: each.get("default", "") for name, each in page["inputs"].items()} | inputs
    assert not [name for name, each in page["inputs"].items() if each.get("required") and name not in inputs]
    results = {}
    for step in page["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), "an input that is put into a script could run anything"
        filled = {name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: values[match[1]], str(value))
                  for name, value in {**step.get("env", {}), **step.get("with", {})}.items()}
        if "run" in step:
            results[step["id"]] = shell(step["run"], folder, {**environment, **filled})
            if results[step["id"]].returncode:
                break
        else:
            results[step["id"]] = (step["uses"], filled)
    return results


def test_the_action_records_the_command(workspace):
    results = github({"command": "xsetroot -solid red\nsleep 1\necho passed", "size": "640x360", "options": "--fps 10 --audio none"}, *workspace)
    assert results["install"].returncode == 0
    done = results["run"]
    assert done.returncode == 0 and done.stdout == "passed\n", done.stderr
    assert re.search(r"^http://127\.0\.0\.1:\d+/#token=", done.stderr, re.M), "the link is in the log"
    assert clip.packets(workspace[0] / "rtcast.webm")
    uses, values = results["keep"]
    assert uses.startswith("actions/upload-artifact@") and values["path"] == "rtcast.webm"


def test_the_action_fails_with_its_command(workspace):
    results = github({"command": "xsetroot -solid red; false\necho never", "size": "640x360", "options": "--audio none"}, *workspace)
    assert results["run"].returncode == 1 and "never" not in results["run"].stdout
    assert (workspace[0] / "rtcast.webm").exists()


def test_the_action_says_that_the_package_is_missing(workspace):
    folder, environment = workspace
    results = github({"command": "true"}, folder, {**environment, "PATH": "/usr/bin:/bin"})
    assert results["install"].returncode == 64 and "input package" in results["install"].stderr


def test_every_step_has_a_shell_and_every_input_is_used():
    text = (CI / "github/action.yml").read_text()
    page = action()
    assert all("uses" in step or step["shell"] == "bash" for step in page["runs"]["steps"])
    assert all(f"inputs.{name}" in text for name in page["inputs"])


@pytest.mark.parametrize("command, status", [("xsetroot -solid red; sleep 1; echo passed", 0), ("exit 7", 7)])
def test_the_template_records_the_command(command, status, workspace):
    folder, environment = workspace
    page = yaml.safe_load((CI / "gitlab/rtcast.yml").read_text())
    [job] = [page[".rtcast"]]
    variables = {**job["variables"], "RTCAST_COMMAND": command, "RTCAST_SIZE": "640x360", "RTCAST_OPTIONS": "--audio none"}
    # GitLab runs both parts in one shell.
    done = shell("\n".join([*job["before_script"], *job["script"]]), folder, {**environment, **variables})
    assert done.returncode == status, done.stderr
    assert "passed" in done.stdout or status
    [path] = job["artifacts"]["paths"]
    assert job["artifacts"]["when"] == "always"
    recording = folder / Path(path.replace("$RTCAST_RECORD", variables["RTCAST_RECORD"]))
    assert status or clip.packets(recording)
