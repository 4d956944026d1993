"""docs/install.md step by step into a folder in place of /usr/local, and what it installs: the program, the page, the completions."""

import os
import re
import subprocess

import pytest

from harness.rtcast import BINARY, ROOT, run
from harness.terminal import PseudoTerminal

TEXT = (ROOT / "docs/install.md").read_text()


def steps(heading, block=0):
    """The commands of a section's block, counted from 0."""
    section = re.search(rf"^#+ {heading}$(.*?)(?=^#|\Z)", TEXT, re.M | re.S)[1]
    return "\n".join(line[4:] for line in re.findall(r"(?:^ {4}.*\n)+", section, re.M)[block].splitlines())


class Prefix:
    """Runs the steps as root would, in a new home; what is built is the program under test."""

    def __init__(self, folder):
        self.folder, self.home = folder / "usr local", folder / "home"
        shims = folder / "shims"
        for name, text in (("sudo", 'exec "$@"'), ("swift", f'echo "swift $*" >>"{folder}/built"')):
            shims.mkdir(exist_ok=True)
            (shims / name).write_text(f"#!/bin/sh\n{text}\n")
            (shims / name).chmod(0o755)
        self.built = folder / "built"
        self.home.mkdir()
        self.env = {**os.environ, "PATH": f"{self.folder}/bin:{shims}:{os.environ['PATH']}", "HOME": str(self.home), "XDG_DATA_DIRS": f"{self.folder}/share"}

    def follow(self, commands):
        commands = re.sub(r"/usr/local(\S*)", lambda path: f'"{self.folder}{path[1]}"', commands)
        subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=ROOT, env=self.env, check=True, timeout=60)

    def files(self):
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    prefix = Prefix(tmp_path_factory.mktemp("install"))
    if BINARY != str(ROOT / ".build/release/rtcast"):
        pytest.skip("another program than the one of this tree is tested")
    prefix.follow(steps("From source"))
    prefix.follow(steps("Shell completions"))
    return prefix


PLACES = {
    "bin/rtcast", "share/man/man1/rtcast.1", "share/bash-completion/completions/rtcast", "share/zsh/site-functions/_rtcast",
    "share/fish/vendor_completions.d/rtcast.fish",
}


def test_the_program_and_its_page_are_installed(installed):
    assert installed.files() == PLACES
    assert installed.built.read_text() == "swift build -c release --product rtcast\n"
    version = subprocess.run(["rtcast", "--version"], env=installed.env, capture_output=True, text=True, check=True).stdout
    assert version == run("--version")[1] and version
    page = (installed.folder / "share/man/man1/rtcast.1").read_text()
    assert page.startswith(".TH RTCAST 1") and all(f"\nrtcast {name}" in page.lower() or name in page for name in ("screen", "watch", "serve"))


def completed(shell, line, *, env, setting_up):
    """What an interactive shell makes of a line when Tab is pressed behind it."""
    terminal = PseudoTerminal(shell, env)
    try:
        terminal.type(f"{setting_up}\necho re''ady\n")
        terminal.wait("ready")
        since = terminal.mark()
        terminal.type(line + "\t")
        return terminal.wait(rf"{re.escape(line)}\S+", since).group()
    finally:
        terminal.close()


def test_bash_completes_commands_and_options(installed):
    """It loads the file by itself, from the folder where it was installed."""
    shell, loader = ["bash", "--norc", "--noprofile", "-i"], "source /usr/share/bash-completion/bash_completion"
    assert completed(shell, "rtcast scr", env=installed.env, setting_up=loader) == "rtcast screen"
    assert completed(shell, "rtcast screen --moni", env=installed.env, setting_up=loader) == "rtcast screen --monitor"


def test_zsh_completes_commands_and_options(installed):
    loader = f"fpath=('{installed.folder}/share/zsh/site-functions' $fpath); autoload -U compinit && compinit -u"
    assert completed(["zsh", "-f", "-i"], "rtcast scr", env=installed.env, setting_up=loader) == "rtcast screen"
    assert completed(["zsh", "-f", "-i"], "rtcast screen --moni", env=installed.env, setting_up=loader) == "rtcast screen --monitor"


def test_fish_completes_commands_and_options(installed):
    for line, word in (("rtcast scr", "screen"), ("rtcast screen --moni", "--monitor")):
        told = subprocess.run(["fish", "-c", f"complete -C {line!r}"], env=installed.env, capture_output=True, text=True, check=True)
        assert word in [entry.split("\t")[0] for entry in told.stdout.splitlines()], (told.stdout, told.stderr)


def test_the_first_command_of_the_readme_works_in_a_folder_with_a_space(tmp_path):
    """scripts/run of a new clone: it builds the product of that clone, and runs it with the arguments that it was given."""
    clone = tmp_path / "my own folder" / "rtcast clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{ROOT}", str(clone)], check=True)
    shims = tmp_path / "shims"
    shims.mkdir()
    # The build itself is in scripts/build-without-x264, in such a folder too; here the product is the one that there is.
    (shims / "swift").write_text(f'''#!/bin/bash -eu
printf '%s\\n' "$@" >"{tmp_path}/built"
mkdir -p "{clone}/.build/release"
cp "{BINARY}" "{clone}/.build/release/rtcast"
''')
    (shims / "swift").chmod(0o755)
    done = subprocess.run([str(clone / "scripts/run"), "test", "--pattern", "no such pattern"], cwd="/", capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{shims}:{os.environ['PATH']}"}, timeout=60)
    assert done.returncode == 64 and "'no such pattern'" in done.stderr, (done.stdout, done.stderr)
    assert (tmp_path / "built").read_text().splitlines() == ["build", "--package-path", str(clone), "-c", "release", "--product", "rtcast"]
    assert "scripts/run screen" in (ROOT / "README.md").read_text().split("## ")[0] and "scripts/test" in (ROOT / "README.md").read_text().split("## ")[0]


def test_uninstalling_leaves_nothing(tmp_path):
    prefix = Prefix(tmp_path)
    for place in PLACES:
        (prefix.folder / place).parent.mkdir(parents=True, exist_ok=True)
        (prefix.folder / place).write_text("")
    state = prefix.home / ".local/state/rtcast/serve-token"
    state.parent.mkdir(parents=True)
    state.write_text("")
    prefix.follow(steps("Uninstalling", block=1))
    assert not prefix.files() and not state.parent.exists()
