"""Files that rtcast writes: those that docs/install.md lists, and no others."""

import re
from pathlib import Path

import pytest

from harness import rtcast as program
from harness.rtcast import ROOT, run

CALLS = "open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mknod,mknodat"

# The files that docs/install.md lists, relative to the state folder, and the one that libpulse makes in the home folder.
KEPT = {"rtcast/serve-certificate.pem", "rtcast/serve-key.pem", "rtcast/serve-token", "rtcast/serve-address", "rtcast/codec-costs"}
LEDGER = re.compile(r"rtcast/links-[\w-]+")
FOREIGN = {".config/pulse/cookie"}


class Traced:
    """Runs rtcast under strace, with a home of its own; knows each file that was opened to be written, made or renamed."""

    def __init__(self, folder, monkeypatch, cast):
        self.folder, self.start_cast, self.monkeypatch = folder, cast, monkeypatch
        self.home = folder / "home"
        self.home.mkdir()
        self.environment = {"HOME": str(self.home), "XDG_STATE_HOME": "", "TMPDIR": str(self.home)}
        self.logs = []

    def cast(self, *arguments, **options):
        env = {**self.environment, **options.pop("env", {})}
        self.logs.append(self.folder / f"trace{len(self.logs)}")
        wrapper = self.folder / f"traced{len(self.logs)}"
        # -D: what is started is rtcast, which gets the signals, and strace looks on.
        wrapper.write_text(f'#!/bin/sh\nexec strace -D -f --seccomp-bpf -qq -y -e signal=none -e trace={CALLS} -o "{self.logs[-1]}" "{self.binary}" "$@"\n')
        wrapper.chmod(0o755)
        with self.monkeypatch.context() as patched:
            patched.setattr(program, "BINARY", str(wrapper))
            return self.start_cast(*arguments, env=env, **options)

    binary = program.BINARY

    def written(self):
        """Paths, devices and what the kernel shows as files left out."""
        found = set()
        for log in self.logs:
            for line in log.read_text().splitlines():
                call = re.match(r"\d+\s+(\w+)\((.*)\) = (-?\d+)", line)
                if not call or call[3].startswith("-"):
                    continue
                if "open" in call[1] and not re.search(r"O_WRONLY|O_RDWR|O_CREAT", call[2]):
                    continue
                if call[1].startswith("mkdir"):
                    continue   # what is put into a folder counts
                found.add(re.findall(r'"([^"]*)"', call[2])[-1])
        return {path for path in found if not path.startswith(("/dev/", "/proc/", "/sys/"))}


@pytest.fixture
def traced(tmp_path, monkeypatch, cast):
    return Traced(tmp_path, monkeypatch, cast)


def test_nothing_is_written_but_what_is_documented(traced, pulse, xserver):
    """A hub with its secret, a link that is used up, a cast by TLS that measures codecs, a window, a recording and a rate log."""
    state = traced.home / ".local/state"
    copy, log = traced.folder / "copy.mkv", traced.folder / "rates.jsonl"
    hub = traced.cast("serve", "--tls", "--listen", "0.0.0.0:0").listening()
    trust = {"SSL_CERT_FILE": str(state / "rtcast/serve-certificate.pem")}
    link = run("link", "-", "--role", "call", "--uses", "1", stdin=(hub["url"] + "\n").encode(), env={**traced.environment, **trust})[1].strip()
    here = {**trust, "PULSE_SERVER": pulse.env["PULSE_SERVER"]}
    bob = traced.cast("call", "--server", hub["url"], "--name", "bob", "--answer", "auto", "--audio", "none", display=xserver.name, env=here)
    bob.wait_event("registered")
    alice = traced.cast("test", "--to", "bob", "--server", link, "--name", "alice", "--no-window", "--size", "320x180", "--tone", "440", env=here)
    alice.wait_event("peer", where=lambda event: event["state"] == "connected")
    casting = traced.cast("test", "--tls", "--codec", "auto", "--size", "320x180", "--tone", "440", "--record", str(copy), "--rtc-log", str(log),
                          env=here)
    viewer = traced.cast("watch", casting.url(), display=xserver.name, env=here)
    viewer.wait_event("track")
    casting.wait_event("stats", where=lambda event: event["viewers"] == 1 and event["fps_sent"] > 0)
    for each in (alice, bob, viewer, casting):
        each.stop()

    def name(path):
        path = Path(re.sub(r"\.\d+$", "", path))   # written beside it, then renamed
        for base in (state, traced.home):
            if path.is_relative_to(base):
                return str(path.relative_to(base))
        return str(path)

    found = {name(path) for path in traced.written()} - FOREIGN - {str(copy), str(log)}
    ledgers = {path for path in found if LEDGER.fullmatch(path)}
    assert found - ledgers <= KEPT, found
    assert ledgers and found >= KEPT, "the test makes all of them"
    page = (ROOT / "docs/install.md").read_text()
    for path in KEPT:
        assert f"`{Path(path).name}`" in page, f"docs/install.md does not list {path}"
    assert "`links-…`" in page and copy.stat().st_size and log.stat().st_size
