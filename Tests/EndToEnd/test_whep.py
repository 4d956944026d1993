"""The WHEP door, knocked on by the clumsy and the hostile."""

import http.client
import random
import re
import socket
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urljoin, urlsplit

import psutil
import pytest

from harness.browser import Viewer
from harness.rtcast import Door, door

OFFER = """v=0
o=- 1 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0
a=msid-semantic: WMS
m=video 9 UDP/TLS/RTP/SAVPF 96 97
c=IN IP4 0.0.0.0
a=rtcp:9 IN IP4 0.0.0.0
a=ice-ufrag:abcd
a=ice-pwd:abcdefghijklmnopqrstuvwx
a=ice-options:trickle
a=fingerprint:sha-256 {fingerprint}
a=setup:actpass
a=mid:0
a=recvonly
a=rtcp-mux
a=rtcp-rsize
a=rtpmap:96 VP8/90000
a=rtcp-fb:96 nack
a=rtcp-fb:96 nack pli
a=rtpmap:97 rtx/90000
a=fmtp:97 apt=96
""".format(fingerprint=":".join(["AB"] * 32)).replace("\n", "\r\n")


def request(url, method="POST", body=b"", content_type="application/sdp", headers=None):
    """(status, headers, body), errors included."""
    authorization = getattr(url, "authorization", {})
    message = urllib.request.Request(
        str(url), data=body, method=method, headers={"Content-Type": content_type, **authorization, **(headers or {})})
    try:
        with urllib.request.urlopen(message, timeout=10) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def offer_from(number, whep):
    """The status of an offer from one of 32 addresses of this machine: no address has places for all."""
    place = urlsplit(whep)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10, source_address=(f"127.0.1.{1 + number % 32}", 0))
    try:
        connection.request("POST", place.path, OFFER, {"Content-Type": "application/sdp", **whep.authorization})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.fixture
def url(cast):
    rtcast = cast("test", "--pattern", "clock", "--fps", "5", "--size", "640x360")
    listening = rtcast.listening()
    return rtcast, listening["url"], door(listening)


def session_at(whep, location):
    return Door(urljoin(str(whep), location), whep.authorization)


def test_an_offer_is_answered(url):
    _, _, whep = url
    status, headers, body = request(whep, body=OFFER.encode())
    assert status == 201 and headers["Content-Type"] == "application/sdp" and headers["Location"]
    assert "a=setup:passive" in body and "a=sendonly" in body and "VP8/90000" in body and "a=candidate:" in body
    session = session_at(whep, headers["Location"])
    status, _, _ = request(session, "PATCH", b"a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\nm=video 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=candidate:1 1 udp 2122260223 8d2ab7c0-1111-4222-8333-944444444444.local 50000 typ host\r\n",
                           "application/trickle-ice-sdpfrag")
    assert status == 204
    assert request(session, "DELETE")[0] == 200
    assert request(session, "DELETE")[0] == 404


BAD_BODIES = [
    ("not sdp", b"hello, world", 400, "not of the form x=value"),
    ("random bytes", bytes(random.Random(1).randrange(256) for _ in range(4000)), 400, "not of the form x=value"),
    ("no codec in common", OFFER.replace("VP8/90000", "XYZ/90000").encode(), 406, "no video codec in common"),
    ("no fingerprint", re.sub("a=fingerprint.*\r\n", "", OFFER).encode(), 400, "no certificate fingerprint"),
    ("no ice", re.sub("a=ice-(ufrag|pwd).*\r\n", "", OFFER).encode(), 400, "no ICE user name"),
    ("a very long line", ("v=0\r\na=" + "x" * 200_000 + "\r\n").encode(), 400, "more than 131072 bytes"),
    ("many lines", OFFER.encode() + b"a=x\r\n" * 40_000, 400, "more than 131072 bytes"),
    # A format that nobody describes is left out.
    ("hostile numbers", OFFER.replace("96 97", "96 97 " + "9" * 400).encode(), 201, "m=video"),
    ("many m-lines", (OFFER + "m=video 9 UDP/TLS/RTP/SAVPF 96\r\n" * 3000).encode(), 400, "more than 2500 lines"),
]


def test_bad_bodies_are_refused_with_a_status_and_a_sentence(url):
    """One after the other, by one cast; after each the next good one is served."""
    _, _, whep = url
    for name, body, expected, says in BAD_BODIES:
        status, _, text = request(whep, body=body)
        assert status == expected and says in text, (name, status, text)
        assert request(whep, body=OFFER.encode())[0] == 201, name


def test_a_body_of_ten_megabytes_is_refused_before_it_comes(url):
    _, _, whep = url
    place = urlsplit(whep)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
    try:
        connection.putrequest("POST", place.path)
        for name, value in {"Content-Type": "application/sdp", "Content-Length": 10_000_000, **whep.authorization}.items():
            connection.putheader(name, str(value))
        connection.endheaders(b"v=0\r\n")
        answer = connection.getresponse()
        assert answer.status == 413 and len(answer.read()) > 10
    finally:
        connection.close()
    assert request(whep, body=OFFER.encode())[0] == 201, "and the next one is served"


def test_other_doors(url):
    _, address, whep = url
    assert request(whep, "PUT", b"v=0")[0] == 405
    assert request(whep, "GET", None)[0] == 204
    assert request(whep, body=OFFER.encode(), content_type="text/plain")[0] == 415
    assert request(whep + "/session/none", "DELETE")[0] == 404
    assert request(urljoin(address, "/nothing"), "GET", None)[0] == 404
    status, headers, _ = request(whep, "OPTIONS", None)
    assert status == 204 and headers["Access-Control-Allow-Origin"] == "*"


def test_random_datagrams_and_bad_stun_disturb_nobody(url, browser):
    rtcast, address, whep = url
    viewer = Viewer(browser, address).wait_live()
    _, _, answer = request(whep, body=OFFER.encode())
    targets = re.findall(r"a=candidate:\S+ 1 udp \d+ (\d+\.\d+\.\d+\.\d+) (\d+) typ host", answer)
    assert targets
    ufrag = re.search(r"a=ice-ufrag:(\S+)", answer).group(1)
    rng = random.Random(7)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for i in range(20_000):
            data = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 200)))
            if i % 3 == 0:  # a binding request with the right name and a wrong integrity
                name = f"{ufrag}:abcd".encode()
                name += b"\0" * (-len(name) % 4)
                body = bytes([0, 6, 0, len(f"{ufrag}:abcd")]) + name + bytes([0, 8, 0, 20]) + rng.randbytes(20)
                data = bytes([0, 1, 0, len(body), 0x21, 0x12, 0xA4, 0x42]) + rng.randbytes(12) + body
            s.sendto(data, (targets[0][0], int(targets[0][1])))
    before = viewer.frames()
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 3}", what="frames go on")


def test_a_thousand_posts_that_never_connect_expire_and_give_their_memory_back(url, browser):
    rtcast, address, whep = url
    process = psutil.Process(rtcast.process.pid)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: offer_from(number, whep), range(50)))
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda number: offer_from(number, whep), range(1000)))
    # There is room for 1,024 at a time; those beyond are told to come again.
    assert set(statuses) <= {201, 503} and statuses.count(201) >= 1024 - 50, statuses.count(201)
    peak = process.memory_info().rss
    rtcast.wait_event("stats", timeout=60, where=lambda e: e.get("sessions", 0) == 0)
    viewer = Viewer(browser, address).wait_live()
    assert viewer.size() == (640, 360)
    assert process.memory_info().rss < 200 * 2**20, process.memory_info().rss
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda number: offer_from(number, whep), range(1000)))
    assert set(statuses) == {201}, "the first have given their places back"
    assert process.memory_info().rss < peak + 20 * 2**20, "a second thousand needs no more than the first"


def test_one_address_leaves_places_to_others(url):
    """64 of an address may be on their way; others get in beside them, and so does it when those have shown themselves or are over."""
    rtcast, _, whep = url
    assert [request(whep, body=OFFER.encode())[0] for _ in range(70)] == [201] * 64 + [503] * 6
    assert offer_from(5, whep) == 201
    rtcast.wait_event("stats", timeout=60, where=lambda e: e.get("sessions", 9) == 0)
    assert request(whep, body=OFFER.encode())[0] == 201


def test_a_wrong_fingerprint_gets_no_media(url, browser):
    """The page's offer is altered on its way, as somebody in between would have to."""
    rtcast, address, whep = url
    browser.get(urljoin(address, "/health"))
    answer = browser.execute_async_script("""
        const [url, headers, done] = arguments;
        (async () => {
          const pc = new RTCPeerConnection();
          pc.addTransceiver('video', {direction: 'recvonly'});
          await pc.setLocalDescription();
          const sdp = pc.localDescription.sdp.replace(/(a=fingerprint:sha-256 )(..)/, (_, a, b) => a + (b == '00' ? '01' : '00'));
          const response = await fetch(url, {method: 'POST', headers: {'Content-Type': 'application/sdp', ...headers}, body: sdp});
          let frames = 0;
          await pc.setRemoteDescription({type: 'answer', sdp: await response.text()});
          const t0 = performance.now();
          while (performance.now() - t0 < 6000 && !['failed', 'closed'].includes(pc.connectionState))
            await new Promise(r => setTimeout(r, 50));
          const stats = [...(await pc.getStats()).values()].find(s => s.type == 'inbound-rtp');
          done([pc.connectionState, stats ? stats.packetsReceived : 0]);
        })().catch(e => done(['error', String(e)]));""", whep, whep.authorization)
    assert answer[0] != "connected" and answer[1] == 0, answer


def test_a_restart_by_patch_needs_the_tag_and_changes_it(url):
    _, _, whep = url
    _, headers, answer = request(whep, body=OFFER.encode())
    session, tag = session_at(whep, headers["Location"]), headers["ETag"]
    fragment = b"a=ice-ufrag:wxyz\r\na=ice-pwd:zyxwvutsrqponmlkjihgfedc\r\nm=video 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n"

    def patch(match):
        return request(session, "PATCH", fragment, "application/trickle-ice-sdpfrag", {"If-Match": match} if match else {})

    assert patch(None)[0] == 428
    assert patch('"77"')[0] == 412
    status, headers, ours = patch("*")
    assert status == 200 and headers["ETag"] != tag and headers["Content-Type"] == "application/trickle-ice-sdpfrag"
    for name in ("ice-ufrag", "ice-pwd"):
        assert re.search(f"a={name}:(\\S+)", ours).group(1) != re.search(f"a={name}:(\\S+)", answer).group(1)
    assert "a=candidate:" in ours
    assert patch(tag)[0] == 412, "the former generation is over"
    status, found, _ = request(session, "HEAD", None)
    assert status == 204 and found["ETag"] == headers["ETag"]
    assert request(session, "DELETE")[0] == 200
    assert request(session, "HEAD", None)[0] == 404


def test_a_browser_that_sends_no_offer_is_offered_the_cast(url, browser):
    _, address, whep = url
    browser.get(urljoin(address, "/health"))
    size, statuses = browser.execute_async_script("""
        const [url, headers, done] = arguments;
        (async () => {
          const offered = await fetch(url, {method: 'POST', headers});
          const pc = new RTCPeerConnection(), video = document.createElement('video');
          pc.ontrack = ({track}) => {
            if (track.kind == 'video') Object.assign(video, {muted: true, srcObject: new MediaStream([track])}).play();
          };
          await pc.setRemoteDescription({type: 'offer', sdp: await offered.text()});
          await pc.setLocalDescription();
          await new Promise(done => pc.onicegatheringstatechange = () => pc.iceGatheringState == 'complete' && done());
          const taken = await fetch(offered.headers.get('Location'),
            {method: 'PATCH', headers: {'Content-Type': 'application/sdp', ...headers}, body: pc.localDescription.sdp});
          const again = await fetch(offered.headers.get('Location'),
            {method: 'PATCH', headers: {'Content-Type': 'application/sdp', ...headers}, body: pc.localDescription.sdp});
          while (!video.videoWidth) await new Promise(next => setTimeout(next, 50));
          done([[video.videoWidth, video.videoHeight], [offered.status, taken.status, again.status]]);
        })().catch(error => done([String(error), []]));""", whep, whep.authorization)
    assert (size, statuses) == ([640, 360], [201, 204, 409])
