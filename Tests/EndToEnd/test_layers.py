"""`--scalability-mode L1T2` with two viewers, one of them behind a slow link: it is spared every other frame of a movement, the other is not."""

import pytest

from harness import link as links
from harness.desk import Desk
from harness.reach import recorded
from harness.xserver import XServer

pytestmark = pytest.mark.alone("the rate of frames over a link with a queue")


@pytest.fixture(scope="module")
def link():
    if why := links.missing():
        pytest.skip(why)
    with links.Link() as link:
        yield link


@pytest.fixture
def desk():
    server = XServer(size=(1280, 720))
    desk = Desk(server)
    desk.server = server
    yield desk
    desk.close()
    server.stop()


def test_a_slow_viewer_is_spared_every_other_frame_of_a_movement(link, desk, cast, tmp_path):
    """Its pictures are whole and in order, and each was shown by the fast viewer too."""
    link.clear()
    copy = tmp_path / "slow.mkv"
    with link.near:
        casting = cast("screen", "--fps", "20", "--no-cursor", "--codec", "VP9", "--scalability-mode", "L1T2", "--bitrate", "3M",
                       "--listen", f"{link.NEAR}:0", "--token", "s3cret", display=desk.server.name)
        url = casting.url()
        fast = cast("watch", url, "--no-window")
        fast.wait_event("peer", where=lambda event: event["state"] == "connected")
    with link.far:
        slow = cast("watch", url, "--no-window", "--record", str(copy))
        slow.wait_event("peer", where=lambda event: event["state"] == "connected")
    casting.wait_event("stats", where=lambda event: event["viewers"] == 2 and len(event["peers"]) == 2)
    link.set("forth", rate=1.2e6, queue=1.0, delay=0.02)
    desk.scroll(rate=20)

    def is_spared(event):
        """Both are served by one encoder, and the one behind the slow link gets half, or nearly, of the other's frames."""
        rates = {peer["remote"].rsplit(":", 1)[0] == link.FAR: peer["fps_sent"] for peer in event["peers"]}
        return len(rates) == 2 and rates[False] > 12 and 0.3 < rates[True] / rates[False] < 0.7

    casting.wait_event("stats", timeout=40, where=is_spared)
    slow.stop()
    numbers = recorded(copy)
    known = [number for number in numbers if number is not None]
    assert len(known) > 0.9 * len(numbers) and known == sorted(known), numbers
