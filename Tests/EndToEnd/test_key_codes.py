"""The short code of both sides' certificates: the same in cast, viewer, page and call."""

import re

from harness.browser import Viewer
from test_call import QUIET

CAST = ("test", "--pattern", "clock", "--fps", "5", "--size", "320x180")
CODE = re.compile(r"([0-9a-f]{4}-){5}[0-9a-f]{4}")


def joined(rtcast):
    return rtcast.wait_event("peer", where=lambda event: event["state"] == "joined")["keys"]


def test_a_cast_and_its_viewers_show_the_same_code(cast, browser):
    rtcast = cast(*CAST)
    url = rtcast.url()
    watching = cast("watch", url, "--no-window")
    code = watching.wait_event("peer", where=lambda event: event["state"] == "connected")["keys"]
    assert CODE.fullmatch(code) and joined(rtcast) == code
    viewer = Viewer(browser, url).wait_live()
    page = viewer.script("return rtcast.stats().then((now) => now.keys)")
    assert CODE.fullmatch(page) and page != code and joined(rtcast) == page
    viewer.script("document.dispatchEvent(new KeyboardEvent('keydown', { key: 's', bubbles: true }))")
    viewer.until("document.querySelector('#figures').textContent.includes(%r)" % page)


def test_both_ends_of_a_call_show_the_same_code(cast):
    hub = cast("serve", "--listen", "127.0.0.1:0").listening()["hub"]
    called = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", "--test", *QUIET)
    called.wait_event("registered")
    calling = cast("call", "bob", "--server", hub, "--name", "alice", "--no-window", "--test", *QUIET)
    codes = [one.wait_event("peer", where=lambda event: event["state"] == "connected")["keys"] for one in (calling, called)]
    assert codes[0] == codes[1] and CODE.fullmatch(codes[0])
