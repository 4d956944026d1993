"""What is published to `rtcast serve` by WHIP is watched there by WHEP, as it came."""

import signal
import socket
import urllib.error
import urllib.request

import pytest

from harness import barcode, sound
from harness.browser import Viewer
from harness.rtcast import run


@pytest.mark.quick
def test_a_published_stream_is_watched_in_a_browser_until_it_ends(cast, browser):
    hub = cast("serve", "--listen", "127.0.0.1:0")
    url = hub.url()
    publisher = cast("test", "--pattern", "clock", "--tone", "440", "--fps", "10", "--size", "640x360", "--to", url + "whip/clock")
    publisher.wait_event("peer", where=lambda event: event["state"] == "published")
    assert hub.wait_event("stream") == {"event": "stream", "id": "clock", "state": "published"}
    viewer = Viewer(browser, url + "watch?stream=clock").wait_live()
    assert viewer.size() == (640, 360)
    sound.wait_tone(viewer, 440)
    seen = barcode.watch(viewer, 4)
    barcode.assert_in_order(seen)
    assert abs(barcode.slope(seen) / 10 - 1) < 0.1

    # The name is taken, and there is no other.
    status, _, error = run("test", "--to", url + "whip/clock")
    assert status == 76 and "409" in error
    request = urllib.request.Request(url + "whep/other", data=b"v=0\r\n", headers={"Content-Type": "application/sdp"})
    try:
        urllib.request.urlopen(request, timeout=10)
        raise AssertionError("a stream that is not there was opened")
    except urllib.error.HTTPError as refusal:
        assert refusal.code == 404

    publisher.stop()
    hub.wait_event("stream", where=lambda event: event["state"] == "ended")
    hub.stop()


def test_publishing_needs_the_token(cast):
    url = cast("serve", "--listen", "127.0.0.1:0", "--token", "sesame").url().split("#")[0]
    status, _, error = run("test", "--to", url + "whip/clock")
    assert status == 77 and "token" in error


def test_a_hub_that_was_killed_and_comes_back_is_published_to_and_watched_again(cast, browser):
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    hub = cast("serve", "--listen", listen)
    url = hub.url()
    publisher = cast("test", "--pattern", "clock", "--fps", "10", "--size", "640x360", "--to", url + "whip/clock")
    publisher.wait_event("peer", where=lambda event: event["state"] == "published")
    viewer = Viewer(browser, url + "watch?stream=clock").wait_live()
    hub.process.send_signal(signal.SIGKILL)
    hub.process.wait(10)
    hub = cast("serve", "--listen", listen)
    hub.wait_event("stream", timeout=45, where=lambda event: event["state"] == "published")
    publisher.wait_event("peer", where=lambda event: event["state"] == "resumed")
    viewer.until("rtcast.state == 'live' && session.phase == 'connected'", timeout=45, what="the page shows it again")
    before = viewer.frames()
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 5}", what="pictures")
