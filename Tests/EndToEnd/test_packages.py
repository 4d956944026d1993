"""The packages and the release that are made of the program under test: the files, the judgement of Debian's tools, a tarball that runs
anywhere, checksums and signatures. scripts/package-test installs the package in bare systems."""

import hashlib
import json
import os
import re
import shutil
import subprocess

import pytest

from harness.rtcast import BINARY, ROOT

PLACES = {
    "usr/bin/rtcast", "usr/include/rtcast_plugin.h", "usr/lib/systemd/system/rtcast-hub.service", "usr/lib/systemd/system/rtcast-hub.socket",
    "usr/lib/systemd/user/rtcast-screen.service", "usr/share/applications/rtcast.desktop", "usr/share/bash-completion/completions/rtcast",
    "usr/share/fish/vendor_completions.d/rtcast.fish", "usr/share/zsh/vendor-completions/_rtcast", "usr/share/doc/rtcast/NEWS.gz", "usr/share/doc/rtcast/changelog.gz",
    "usr/share/doc/rtcast/copyright", "usr/share/doc/rtcast/examples/waves.c", "usr/share/icons/hicolor/scalable/apps/rtcast.svg",
    "usr/share/man/man1/rtcast.1.gz", "usr/share/metainfo/org.example.rtcast.metainfo.xml", "etc/rtcast/hub.conf",
} | {f"usr/share/rtcast/presets/{path.name}" for path in (ROOT / "presets").glob("*.json")}
PLACES |= {f"usr/share/doc/rtcast/docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}


def told(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"there is no {program}")


def release(folder, *options, **environment):
    return subprocess.run([ROOT / "scripts/release", "--program", BINARY, "--level", "0", "--out", folder, *options, "rtcast"],
                          capture_output=True, text=True, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Two releases of the same commit, in the folders `one` and `other`, and the key that signed them."""
    work = tmp_path_factory.mktemp("releases")
    told("openssl", "genpkey", "-algorithm", "ed25519", "-out", work / "key.pem")
    for name in ("one", "other"):
        done = release(work / name, "--dry-run", "--pem", work / "key.pem")
        assert done.returncode == 0, done.stderr
    return work


@pytest.fixture(scope="module")
def made(signed):
    """The package and the tarball of a release."""
    [deb], [tarball] = (signed / "one").glob("*.deb"), (signed / "one").glob("*.tar.xz")
    return deb, tarball


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
    # Not FFmpeg's program, which needs two hundred packages.
    assert re.fullmatch(r"libavformat\d+, libswscale\d+", fields["Recommends"])
    assert fields["Suggests"] == "pulseaudio | pipewire-pulse, xvfb"
    assert f'"{fields["Version"]}"' in (ROOT / "Sources/rtcast-cli/ProgramVersion.swift").read_text()


def test_the_publisher_is_the_maintainer_and_begins_the_identifier(tmp_path):
    environment = {**os.environ, "RTCAST_PUBLISHER": "Ann Other <ann@casts.example.net>"}
    told(ROOT / "scripts/package", "--program", BINARY, "--level", 0, "--out", tmp_path, "rtcast", env=environment)
    [deb] = tmp_path.glob("*.deb")
    assert told("dpkg-deb", "-f", deb, "Maintainer") == "Ann Other <ann@casts.example.net>\n"
    assert "/metainfo/net.example.casts.rtcast.metainfo.xml" in told("dpkg-deb", "-c", deb)
    refused = subprocess.run([ROOT / "scripts/package", "--program", BINARY, "--out", tmp_path, "rtcast"], capture_output=True, text=True,
                             env={**os.environ, "RTCAST_PUBLISHER": "somebody"})
    assert refused.returncode == 1 and "RTCAST_PUBLISHER='NAME <USER@HOST>'" in refused.stderr


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


def test_two_releases_of_a_commit_are_the_same(signed):
    names = sorted(path.name for path in (signed / "one").iterdir())
    assert len(names) == 7 and names == sorted(path.name for path in (signed / "other").iterdir())
    for name in names:
        assert (signed / "one" / name).read_bytes() == (signed / "other" / name).read_bytes(), name


def test_a_release_is_checked_by_its_sums_and_signature(signed):
    folder = signed / "one"
    told("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=folder)
    listed = {line.split()[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert listed == {path.name for path in folder.iterdir()} - {"SHA256SUMS", "SHA256SUMS.sig"}
    told("openssl", "pkey", "-in", signed / "key.pem", "-pubout", "-out", signed / "public.pem")
    # The command is that of the notes.
    [line] = [line.strip() for line in (folder / "NOTES.md").read_text().splitlines() if "openssl" in line]
    words = [str(signed / "public.pem") if word == "KEY.pem" else word for word in line.split()]
    told(*words, cwd=folder)
    (signed / "changed").write_text((folder / "SHA256SUMS").read_text().replace("a", "b"))
    words[words.index("SHA256SUMS")] = str(signed / "changed")
    assert subprocess.run(words, cwd=folder, capture_output=True).returncode != 0


def test_the_bill_of_materials_is_that_of_the_packaged_program(signed, tmp_path):
    [deb] = (signed / "one").glob("*.deb")
    told("dpkg-deb", "-x", deb, tmp_path)
    [bill] = (json.loads(path.read_text()) for path in (signed / "one").glob("*.cdx.json"))
    program = bill["metadata"]["component"]
    assert program["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256((tmp_path / "usr/bin/rtcast").read_bytes()).hexdigest()}]
    assert {"swift-nio", "libssl3", "libvpx-dev", "libavcodec-dev"} <= {component["name"] for component in bill["components"]}


def test_the_notes_are_the_newest_section_of_the_changelog(signed):
    said = (signed / "one/NOTES.md").read_text()
    sections = re.split(r"(?m)^## .*\n", (ROOT / "CHANGELOG.md").read_text())
    assert sections[1].strip() in said and sections[2].strip() not in said
    [deb] = (signed / "one").glob("*.deb")
    assert f"| `{deb.name}` | Debian package |" in said


@needs("gpg")
def test_gpg_signs_a_release(tmp_path):
    home = tmp_path / "gpg"
    home.mkdir(mode=0o700)
    environment = {"GNUPGHOME": str(home)}
    told("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "tests@localhost", "ed25519", "sign", env={**os.environ, **environment})
    try:
        done = release(tmp_path / "out", "--dry-run", "--gpg", "tests@localhost", **environment)
        assert done.returncode == 0, done.stderr
        told("gpg", "--batch", "--verify", "SHA256SUMS.asc", "SHA256SUMS", cwd=tmp_path / "out", env={**os.environ, **environment})
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], env={**os.environ, **environment})


def test_a_release_that_is_not_ready_is_refused_with_the_remedy(tmp_path):
    unsigned = release(tmp_path / "out")
    assert unsigned.returncode == 64 and "--gpg KEY or --pem FILE" in unsigned.stderr
    missing = release(tmp_path / "out", "--pem", tmp_path / "none.pem")
    assert missing.returncode == 66 and "none.pem" in missing.stderr
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter").write_text("mine")
    other = release(tmp_path / "mine", "--dry-run")
    assert other.returncode == 73 and (tmp_path / "mine/letter").exists()
