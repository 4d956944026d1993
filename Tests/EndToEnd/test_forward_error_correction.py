"""On a path that loses packets, browsers get repair packets that they can use, in the form that they offer."""

import json
import time
import urllib.request

import pytest

from harness.rtcast import bearer
from harness.udp_relay import UDPRelay

pytestmark = pytest.mark.alone("the rate that a lossy link allows")

PAGE = """
    const done = arguments[0];
    window.pc = new RTCPeerConnection();
    const video = document.createElement('video');
    video.muted = video.autoplay = true;
    document.body.append(video);
    pc.addTransceiver('video', {direction: 'recvonly'});
    pc.addTransceiver('audio', {direction: 'recvonly'});
    pc.ontrack = event => { if (event.track.kind === 'video') video.srcObject = new MediaStream([event.track]); };
    pc.createOffer().then(offer => pc.setLocalDescription(offer)).then(() => done(pc.localDescription.sdp));"""
ACCEPT = """
    const done = arguments[1];
    pc.setRemoteDescription({type: 'answer', sdp: arguments[0]}).then(() => done(null), error => done(String(error)));"""
RECEIVED = """
    const done = arguments[0];
    pc.getStats().then(stats => done([...stats.values()].find(s => s.type === 'inbound-rtp' && s.kind === 'video')));"""


def watch(driver, listening):
    """The page watches over a path of its own: neither side knows another way to the other."""
    driver.get("about:blank")
    offer = driver.execute_async_script(PAGE)
    offer = "".join(line for line in offer.splitlines(True) if "candidate" not in line)
    request = urllib.request.Request(
        listening["whep"], data=offer.encode(), headers={"Content-Type": "application/sdp", **bearer(listening)})
    with urllib.request.urlopen(request, timeout=10) as reply:
        answer = reply.read().decode()
    path = UDPRelay(delay=0.025)
    assert driver.execute_async_script(ACCEPT, path.through(answer)) is None
    return path, answer


def received(driver):
    return driver.execute_async_script(RECEIVED) or {}


def repairs_sent(log):
    """Repair packets of which feedback has told, by the cast's own log."""
    count = 0
    for line in log.read_text().splitlines():
        try:
            count += sum(1 for packet in json.loads(line).get("packets") or [] if "fec" in packet)
        except json.JSONDecodeError:
            pass   # the last line may not be whole yet
    return count


def test_a_browser_gets_repair_packets_where_packets_are_lost_and_frames_go_on(cast, browser, tmp_path):
    log = tmp_path / "rate.jsonl"
    rtcast = cast("test", "--pattern", "noise", "--fps", "15", "--size", "640x360", "--listen", "127.0.0.1:0", "--bitrate", "2M",
                  "--rtc-log", str(log))
    path, answer = watch(browser, rtcast.listening())
    try:
        assert "flexfec-03" in answer and "FEC-FR" in answer
        deadline = time.monotonic() + 20
        while received(browser).get("framesDecoded", 0) < 20:
            assert time.monotonic() < deadline, received(browser)
            time.sleep(0.2)
        assert repairs_sent(log) == 0
        path.loss = 0.08
        while repairs_sent(log) < 50:
            assert time.monotonic() < deadline + 20, received(browser)
            time.sleep(0.5)
        before = received(browser)
        time.sleep(10)
        after = received(browser)
        assert repairs_sent(log) > 100
        assert after["fecPacketsReceived"] > before["fecPacketsReceived"] > 0
        assert after["framesDecoded"] - before["framesDecoded"] > 100 and after["pliCount"] == before["pliCount"]
    finally:
        path.close()
