"""What scripts/package makes, of the program under test: the files, the judgement of Debian's tools, and a tarball that runs anywhere.
scripts/package-test installs it in bare systems."""

import json
import re
import shutil
import subprocess

import pytest

from harness.rtcast import BINARY, ROOT

MANIFEST = json.loads((ROOT / "packaging/manifest.json").read_text())
PLACES = {
    "usr/bin/rtcast", "usr/include/rtcast_plugin.h", "usr/lib/systemd/system/rtcast-hub.service", "usr/lib/systemd/system/rtcast-hub.socket",
    "usr/lib/systemd/user/rtcast-screen.service", "usr/share/applications/rtcast.desktop", "usr/share/bash-completion/completions/rtcast",
    "usr/share/fish/vendor_completions.d/rtcast.fish", "usr/share/zsh/vendor-completions/_rtcast", "usr/share/doc/rtcast/NEWS.gz", "usr/share/doc/rtcast/changelog.gz",
    "usr/share/doc/rtcast/copyright", "usr/share/doc/rtcast/examples/waves.c", "usr/share/icons/hicolor/scalable/apps/rtcast.svg",
    "usr/share/man/man1/rtcast.1.gz", f"usr/share/metainfo/{MANIFEST['identifier']}.metainfo.xml", "etc/rtcast/hub.conf",
} | {f"usr/share/rtcast/presets/{path.name}" for path in (ROOT / "presets").glob("*.json")}


def told(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"there is no {program}")


def package(folder):
    told(ROOT / "scripts/package", "--program", BINARY, "--level", 0, "--out", folder, "rtcast")
    [deb], [tarball] = folder.glob("*.deb"), folder.glob("*.tar.xz")
    return deb, tarball


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return package(tmp_path_factory.mktemp("packages"))


def test_the_package_has_everything_and_nothing_else(made):
    lines = [line.split(None, 5) for line in told("dpkg-deb", "-c", made[0]).splitlines()]
    files = {line[5].removeprefix("./") for line in lines if not line[0].startswith("d")}
    assert files == PLACES
    assert {line[1] for line in lines} == {"root/root"}
    assert all(line[0][1:] == ("rwxr-xr-x" if line[0].startswith("d") or line[5].endswith("bin/rtcast") else "rw-r--r--") for line in lines)


def test_what_it_needs_is_what_it_is_linked_with(made):
    fields = dict(line.split(": ", 1) for line in told("dpkg-deb", "-f", made[0]).splitlines() if ": " in line)
    depends = {name.split()[0] for name in fields["Depends"].split(", ")}
    assert {"libc6", "libxcb1", "libssl3", "libopus0"} <= depends and not any(name.startswith("libav") for name in depends)
    assert fields["Recommends"] == "ffmpeg, pulseaudio | pipewire-pulse"
    assert f'"{fields["Version"]}"' in (ROOT / "Sources/rtcast-cli/ProgramVersion.swift").read_text()


def test_it_is_made_the_same_twice(made, tmp_path):
    for one, other in zip(made, package(tmp_path)):
        assert one.read_bytes() == other.read_bytes(), one.name


@needs("lintian")
def test_lintian_finds_no_error(made):
    # Only the program of a package, whose runtime is linked in, has no search path.
    said = subprocess.run(["lintian", "--allow-root", "--suppress-tags", "custom-library-search-path", "--fail-on", "error", str(made[0])],
                          capture_output=True, text=True)
    assert said.returncode == 0 and not re.search(r"^E:", said.stdout, re.M), said.stdout + said.stderr


@needs("appstreamcli")
@needs("desktop-file-validate")
def test_desktops_understand_its_entry(made, tmp_path):
    told("dpkg-deb", "-x", made[0], tmp_path)
    told("desktop-file-validate", tmp_path / "usr/share/applications/rtcast.desktop")
    told("appstreamcli", "validate", "--no-net", *tmp_path.glob("usr/share/metainfo/*.xml"))
    entry = (tmp_path / "usr/share/applications/rtcast.desktop").read_text()
    # What a link says is no option.
    assert "Exec=rtcast watch -- %u\n" in entry and "x-scheme-handler/rtcast;" in entry


def test_the_tarball_runs_in_any_folder(made, tmp_path):
    folder = tmp_path / "a folder of mine"
    folder.mkdir()
    told("tar", "-xf", made[1], "-C", folder)
    [top] = folder.iterdir()
    assert {str(path.relative_to(top)).removeprefix("usr/") for path in top.rglob("*") if path.is_file()} == {
        place.removeprefix("usr/").replace("vendor-completions", "site-functions") for place in PLACES}
    (top / "share/rtcast/presets/mine.json").write_text('{"fps": 7}')
    events = told(top / "bin/rtcast", "test", "--preset", "mine", "--duration", "1", "--json", cwd="/")
    assert '"fps":7' in events
