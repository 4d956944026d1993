"""What is typed at a terminal: the answer to a call, and the keys of `rtcast file`."""

import pytest

from harness import barcode, sound
from harness.browser import Viewer
from harness.rtcast import run
from harness.terminal import Terminal

RIGHT, LEFT = "\x1b[C", "\x1b[D"
FPS = 10


@pytest.fixture
def terminal():
    started = []

    def start(*arguments, **options):
        started.append(Terminal(*arguments, **options))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def test_a_call_is_answered_at_the_terminal(terminal, cast):
    """`--answer ask` is the default of `call`: n rejects, y accepts, and other lines do neither."""
    hub = cast("serve", "--listen", "127.0.0.1:0").url()
    bob = terminal("call", "--server", hub, "--name", "bob", "--no-window", "--audio", "none")
    bob.wait("Registered as bob")
    calling = ("test", "--to", "bob", "--server", hub, "--name", "alice", "--no-window", "--size", "320x180")

    alice = cast(*calling)
    bob.wait(r"alice is calling\.\s+Accept\? Type y or n, and press Enter\.")
    bob.type("\nlater\nn\n")
    ended = alice.wait_event("peer", where=lambda event: event["state"] == "ended")
    assert ended["reason"] == "rejected" and alice.wait() == 77

    again = bob.mark()
    alice = cast(*calling)
    bob.wait("Accept?", since=again)
    bob.type("Y\n")
    alice.wait_event("peer", where=lambda event: event["state"] == "connected")
    bob.wait(r"Connected with alice\.", since=again)
    alice.interrupt()
    assert alice.wait() == 0


def frame(viewer):
    """The number of the picture that is shown now."""
    return viewer.until("(" + barcode.READER + ", window.barcode.read(document.querySelector('video'))?.frame ?? null)", what="a bar code")


def wait_frame(viewer, expression, what):
    return viewer.until("((frame) => frame !== null && (" + expression + "))"
                        "(window.barcode.read(document.querySelector('video'))?.frame ?? null)", what=what)


def test_the_keys_of_a_file(terminal, clips, browser):
    """Space, the arrows, m and q: seen and heard by a viewer, and in the progress bar."""
    path = clips.numbered("numbered-keys.mp4", sound="aac", seconds=60, width=320, height=180, fps=FPS, keyframe_every=FPS)
    player = terminal("file", path)
    viewer = Viewer(browser, player.url()).wait_live()
    viewer.script(barcode.READER)
    sound.wait_tone(viewer, 440)
    bar = player.wait(r"▶ 0:(\d\d) [━─]+ 1:00")
    assert player.wait(r"━+─+ 1:00")

    since = player.mark()
    player.type("m")
    player.wait(r"▶ 0:\d\d [━─]+ 1:00 muted", since)
    sound.wait_silence(viewer)
    player.type("m")
    sound.wait_tone(viewer, 440)

    since = player.mark()
    player.type(RIGHT + RIGHT)
    wait_frame(viewer, f"frame >= {20 * FPS}", "a picture 20 seconds on")
    position = int(player.wait(r"▶ 0:([2-5]\d) ", since).group(1))
    assert position >= int(bar.group(1)) + 20

    since = player.mark()
    player.type(" ")
    held = player.wait(r"⏸ (0:\d\d) ", since).group(1)
    sound.wait_silence(viewer)
    player.type(" ")
    player.wait(r"▶ 0:\d\d ", player.mark())
    sound.wait_tone(viewer, 440)
    later = int(player.wait(r"▶ 0:(\d\d) ", player.mark()).group(1))
    assert int(held[2:]) <= later < int(held[2:]) + 10

    player.type(LEFT + LEFT + LEFT + LEFT + LEFT + LEFT)
    wait_frame(viewer, f"frame < {10 * FPS}", "a picture of the beginning")

    player.type("q")
    assert player.exit_status() == 0
    assert player.is_restored()


def test_a_file_without_a_terminal_takes_no_keys(clips):
    """Bytes on a standard input that is no terminal are none of its business."""
    path = clips.numbered("numbered-keys.mp4", sound="aac", seconds=60, width=320, height=180, fps=FPS, keyframe_every=FPS)
    status, out, err = run("file", path, "--duration", "1", "--json", stdin=b"q" * 100)
    assert status == 0 and '"reason":"duration over"' in out, (out, err)
