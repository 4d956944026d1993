"""What a person gets who types something wrong: one sentence and the right exit status."""

import re
import socket

import pytest

from harness.reference import ROOT
from harness.rtcast import run


def refused(status, *arguments, says=(), **options):
    code, out, err = run(*arguments, **options)
    assert code == status, (code, out, err)
    text = (out + err).lower()
    for word in says:
        assert word.lower() in text, (word, out, err)
    assert "fatal error" not in text and "stack dump" not in text
    return err


def test_the_version_names_the_commit():
    code, out, _ = run("--version")
    named = re.fullmatch(r"rtcast \d+\.\d+\.\d+(?: \(([0-9a-f]{9})\))?\n", out)
    assert code == 0 and named, out
    head = ROOT / ".git/HEAD"
    if head.is_file() and head.read_text() == "ref: refs/heads/main\n" and (ROOT / ".git/refs/heads/main").is_file():
        assert (ROOT / ".git/refs/heads/main").read_text().startswith(named[1])


@pytest.mark.parametrize("fps", ["0", "-5", "1000", "abc"])
def test_a_frame_rate_that_makes_no_sense_is_a_usage_error(fps):
    refused(64, "test", f"--fps={fps}", says=["fps"])


def test_no_display():
    refused(69, "screen", says=["display"])


def test_a_display_that_does_not_answer():
    refused(69, "screen", display=":7654", says=[":7654"])


def test_a_window_that_does_not_exist(xserver):
    refused(66, "screen", "--window", "no such window anywhere", display=xserver.name, says=["no such window anywhere"])
    refused(66, "screen", "--window", "0x7654321", display=xserver.name, says=["0x7654321"])


def test_a_monitor_that_does_not_exist(xserver):
    refused(66, "screen", "--monitor", "17", display=xserver.name, says=["17"])


@pytest.mark.parametrize("region", ["100x100+5000+0", "5000x100+0+0", "0x0+0+0", "abc", "10x10"])
def test_a_region_outside_the_screen_or_malformed(region, xserver):
    code, out, err = run("screen", "--region", region, display=xserver.name)
    assert code in (64, 66), (code, err)
    assert "region" in err.lower() or region in err


def test_a_port_that_is_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(69, "test", "--listen", f"127.0.0.1:{port}", says=[str(port), "in use"])


def test_listening_beyond_loopback_needs_a_token():
    refused(77, "test", "--listen", "0.0.0.0:0", says=["--token"])


@pytest.mark.parametrize("address", ["", "nonsense:99999", "127.0.0.1", "127.0.0.1:x"])
def test_a_listen_address_that_is_none(address):
    refused(64, "test", f"--listen={address}", says=["listen"])


def test_unknown_patterns_and_options_are_usage_errors():
    refused(64, "test", "--pattern", "nothing", says=["pattern"])
    refused(64, "test", "--no-such-option")
    refused(64, "frobnicate")


def test_help_is_worth_reading():
    for arguments in (["--help"], ["screen", "--help"], ["test", "--help"], ["list", "--help"], ["doctor", "--help"]):
        code, out, _ = run(*arguments)
        assert code == 0 and len(out.splitlines()) > 8, arguments
    assert "rtcast screen --fps 5" in run("--help")[1]


def test_list_and_doctor_tell_what_is_here(xserver):
    code, out, _ = run("list", display=xserver.name)
    assert code == 0 and "1280x720" in out and "VP8" in out
    code, out, _ = run("doctor", display=xserver.name)
    assert code == 0 and "MIT-SHM" in out and "DAMAGE" in out.upper()


def test_duration_ends_the_cast_by_itself():
    code, _, err = run("test", "--duration", "1", "--json")
    assert code == 0, err
