"""The keys and the close button of the window that `rtcast call` and `rtcast watch` open, pressed on a desktop with a window manager."""

import pytest

from harness.window_manager import Desktop


@pytest.fixture
def desktop(tmp_path):
    desktop = Desktop(tmp_path)
    yield desktop
    desktop.stop()


def is_whole(desktop):
    return lambda place: place == (0, 0, *desktop.size)


@pytest.fixture
def watching(cast, desktop):
    viewer = cast("watch", cast("test", "--size", "320x180").url(), display=desktop.name)
    return viewer, desktop.window()


def test_f_is_full_screen_and_q_ends_watching(watching, desktop):
    viewer, window = watching
    before = desktop.place(window)
    desktop.key("f")
    desktop.wait_place(window, is_whole(desktop), "full screen")
    desktop.key("f")
    desktop.wait_place(window, lambda place: place[2:] == before[2:], "the size before")
    desktop.key("q")
    assert viewer.wait_event("ended")["reason"] == "window closed"
    assert viewer.wait() == 0


def test_the_close_button_ends_watching(watching, desktop):
    viewer, window = watching
    desktop.close_by_button(window)
    assert viewer.wait_event("ended")["reason"] == "window closed"
    assert viewer.wait() == 0


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


@pytest.fixture
def waiting(cast, hub):
    """bob, who takes every call and sends a picture."""
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", "--test", "--size", "320x180", "--audio", "none")
    bob.wait_event("registered")
    return bob


@pytest.fixture
def calling(cast, hub, waiting, desktop):
    alice = cast("test", "--to", "bob", "--server", hub, "--name", "alice", "--size", "320x180", "--fps", "15", "--tone", "440", display=desktop.name)
    window = desktop.window()
    waiting.wait_event("stats", where=lambda event: frames(event) > 0)
    return alice, window


def frames(event):
    return sum(stream.get("frames_received", 0) for stream in event["streams"])


def test_m_v_f_and_q_in_a_call(calling, waiting, desktop):
    """The other end is told of both, and gets no picture while the video is paused."""
    alice, window = calling
    before = desktop.place(window)
    for key, kind in (("m", "audio"), ("v", "video")):
        desktop.key(key)
        assert waiting.wait_event("muted") == {"event": "muted", "id": "alice", "kind": kind, "muted": True}
    # One picture may have been on its way.
    held = frames(waiting.wait_event("stats"))
    waiting.wait_event("stats")
    assert frames(waiting.wait_event("stats")) <= held + 2
    for key, kind in (("m", "audio"), ("v", "video")):
        desktop.key(key)
        assert waiting.wait_event("muted") == {"event": "muted", "id": "alice", "kind": kind, "muted": False}
    waiting.wait_event("stats", where=lambda event: frames(event) > held + 5)
    desktop.key("f")
    desktop.wait_place(window, is_whole(desktop), "full screen")
    desktop.key("f")
    desktop.wait_place(window, lambda place: place[2:] == before[2:], "the size before")
    desktop.key("q")
    assert alice.wait_event("ended")["reason"] == "window closed"
    assert alice.wait() == 0
    assert waiting.wait_event("peer", where=lambda event: event["state"] == "ended")["reason"] == "hung up remotely"


def test_the_close_button_hangs_up(calling, waiting, desktop):
    alice, window = calling
    desktop.close_by_button(window)
    assert alice.wait_event("ended")["reason"] == "window closed"
    assert alice.wait() == 0
    assert waiting.wait_event("peer", where=lambda event: event["state"] == "ended")["reason"] == "hung up remotely"


def test_q_ends_the_call_of_who_waits_for_calls_and_no_more(cast, hub, desktop):
    """The next call opens a window again."""
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--test", "--audio", "none", display=desktop.name)
    bob.wait_event("registered")
    for _ in range(2):
        alice = cast("test", "--to", "bob", "--server", hub, "--name", "alice", "--no-window", "--size", "320x180")
        desktop.window()
        desktop.key("q")
        assert alice.wait_event("peer", where=lambda event: event["state"] == "ended")["reason"] == "hung up remotely"
        assert alice.wait() == 0
    assert bob.process.poll() is None
