"""What RFC 9725 (WHIP) and draft-ietf-wish-whep demand of servers and clients: docs/conformance.md has the table, and names these tests."""

import asyncio
import re
from urllib.parse import urljoin

import pytest
from aiohttp import web

from harness.http_server import HTTPServer
from harness.stun import LateSTUN
from test_whep import OFFER, request

FINGERPRINT = ":".join(["AB"] * 32)
WATCHES = OFFER.replace("fingerprint:sha-256 {fingerprint}", f"fingerprint:sha-256 {FINGERPRINT}")
PUBLISHES = WATCHES.replace("a=recvonly", "a=sendonly\r\na=msid:s v")
FRAGMENT = "application/trickle-ice-sdpfrag"
TOKEN = "a-token-of-some-length"


@pytest.fixture(params=["whip", "whep"])
def endpoint(request, cast):
    """A hub's door for publishers, a cast's for viewers; `.offer` is what it takes."""
    if request.param == "whip":
        event = cast("serve", "--listen", "127.0.0.1:0", "--token", TOKEN).wait_event("listening")
        return Endpoint(event, "whip/one", PUBLISHES)
    event = cast("test", "--fps", "5", "--size", "320x180", "--token", TOKEN).wait_event("listening")
    return Endpoint(event, "whep", WATCHES)


class Endpoint:
    def __init__(self, listening, path, offer):
        self.url = urljoin(re.sub(r"[?#].*", "", listening["url"]), "/" + path)
        self.offer = offer

    def ask(self, method, url=None, body="", content_type="application/sdp", **headers):
        headers = {"Authorization": f"Bearer {TOKEN}", **{name.replace("_", "-"): value for name, value in headers.items()}}
        return request(url or self.url, method, body.encode(), content_type, {k: v for k, v in headers.items() if v is not None})

    def open(self):
        status, headers, answer = self.ask("POST", body=self.offer)
        assert status == 201, (status, answer)
        return urljoin(self.url, headers["Location"]), headers, answer


def fragment(ufrag, password, *candidates):
    return "\r\n".join([f"a=ice-ufrag:{ufrag}", f"a=ice-pwd:{password}", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:0",
                        *(f"a=candidate:{candidate}" for candidate in candidates), ""])


OURS = "abcd", "abcdefghijklmnopqrstuvwx"


# Servers

def test_an_offer_is_answered_whole(endpoint):
    """§4.2: 201, `application/sdp`, Location; all candidates are in the answer; the direction is the other one; BUNDLE, rtcp-mux."""
    session, headers, answer = endpoint.open()
    assert headers["Content-Type"].startswith("application/sdp") and session != endpoint.url
    assert ("a=recvonly" if endpoint.offer is PUBLISHES else "a=sendonly") in answer
    for line in "a=candidate:", "a=group:BUNDLE 0", "a=rtcp-mux", "a=setup:", "a=fingerprint:":
        assert line in answer, line
    assert re.search("a=setup:(active|passive)", answer)


def test_the_role_of_a_dtls_client_can_be_had(endpoint):
    """§4.4.4: an offer with `active`."""
    endpoint.offer = endpoint.offer.replace("a=setup:actpass", "a=setup:active")
    assert "a=setup:passive" in endpoint.open()[2]


@pytest.mark.parametrize("content_type, body, status", [
    ("text/plain", None, 415), ("application/json", None, 415), ("application/sdp", "v=0\r\nrubbish", 400)])
def test_what_is_no_offer_is_refused(endpoint, content_type, body, status):
    """§4.2: another type, and SDP that is none."""
    assert endpoint.ask("POST", body=endpoint.offer if body is None else body, content_type=content_type)[0] == status


def test_offers_that_cannot_be_met_whole_are_refused(endpoint):
    """§4.4.1: without BUNDLE and rtcp-mux there is nothing to be had, and the reply says which of them is missing."""
    for gone, wanted in ("a=rtcp-mux\r\n", 422), (f"a=fingerprint:sha-256 {FINGERPRINT}\r\n", 400), ("a=ice-ufrag:abcd\r\n", 400):
        assert gone in endpoint.offer
        status, _, said = endpoint.ask("POST", body=endpoint.offer.replace(gone, ""))
        assert status == wanted and said.strip() and ("rtcp-mux" in said) == ("rtcp-mux" in gone), (gone, status, said)


def test_methods_of_the_future_are_reserved(endpoint):
    """§4.1, §4.2: neither an endpoint nor a session takes what means nothing there; reading a session costs nothing."""
    for method in "PUT", "PATCH", "DELETE":
        assert endpoint.ask(method)[0] == 405, method
    session = endpoint.open()[0]
    for method in "PUT", "POST":
        assert endpoint.ask(method, session)[0] == 405, method
    for method in "GET", "HEAD":
        assert endpoint.ask(method, session)[::2] == (204, ""), method


def test_other_origins_may_ask_what_is_possible_without_a_token(endpoint):
    """§4.2, §4.7: OPTIONS, `Accept-Post`, and the answers' headers shown to scripts."""
    status, headers, _ = endpoint.ask("OPTIONS", Authorization=None, Origin="https://app.example",
                                      Access_Control_Request_Method="POST", Access_Control_Request_Headers="authorization,content-type")
    assert status == 204 and headers["Accept-Post"] == "application/sdp"
    assert "POST" in headers["Access-Control-Allow-Methods"]
    assert {"authorization", "content-type", "if-match"} <= {
        name.strip().lower() for name in headers["Access-Control-Allow-Headers"].split(",")}
    assert headers["Access-Control-Allow-Origin"] == "*"
    exposed = endpoint.ask("POST", body=endpoint.offer, Origin="https://app.example")[1]["Access-Control-Expose-Headers"].lower()
    assert {"location", "etag", "link"} <= {name.strip() for name in exposed.split(",")}


def test_without_the_token_there_is_no_session(endpoint):
    """§4.7: Bearer, at the endpoint and at the session."""
    status, headers, _ = endpoint.ask("POST", body=endpoint.offer, Authorization=None)
    assert status == 401 and headers["WWW-Authenticate"].startswith("Bearer")
    session = endpoint.open()[0]
    assert endpoint.ask("DELETE", session, Authorization=None)[0] == 401
    assert endpoint.ask("DELETE", session)[0] == 200


def test_candidates_are_taken_by_their_session_alone(endpoint):
    """§4.3.1, §4.3.2: 204 without a body for those that can be used and those that cannot; 412, 415, 400."""
    session, headers, _ = endpoint.open()
    tag = headers["ETag"]
    assert re.fullmatch(r'"[^"]+"', tag), "a strong tag"
    good = fragment(*OURS, "1 1 udp 2122260223 127.0.0.1 9 typ host", "2 1 udp 2122260222 nowhere.invalid 9 typ host",
                    "3 1 sctp 2122260221 127.0.0.1 9 typ host")
    assert endpoint.ask("PATCH", session, good, FRAGMENT, If_Match=tag)[::2] == (204, "")
    assert endpoint.ask("PATCH", session, good, FRAGMENT, If_Match='"other"')[0] == 412
    # A viewer may answer an offer of ours by PATCH, but there was none; a publisher never does.
    unwanted = 415 if endpoint.offer is PUBLISHES else 409
    assert endpoint.ask("PATCH", session, good, "application/sdp", If_Match=tag)[0] == unwanted
    assert endpoint.ask("PATCH", session, good, "text/plain", If_Match=tag)[0] == 415
    assert endpoint.ask("PATCH", session, "rubbish", FRAGMENT, If_Match=tag)[0] == 400


def test_a_restart_gives_new_credentials_and_a_new_tag(endpoint):
    """§4.3.3: 200, the fragment, the tag; what had the old tag is refused, and a restart that cannot be leaves the session."""
    session, headers, answer = endpoint.open()
    assert endpoint.ask("PATCH", session, fragment("x", "y"), FRAGMENT, If_Match="*")[0] == 400
    status, again, body = endpoint.ask("PATCH", session, fragment("ysXw", "vw5LmwG4y/e6dPP/zAP9Gp5k"), FRAGMENT, If_Match="*")
    assert status == 200 and again["Content-Type"].startswith(FRAGMENT) and again["ETag"] != headers["ETag"]
    assert re.search(r"a=ice-ufrag:(\S+)", body).group(1) != re.search(r"a=ice-ufrag:(\S+)", answer).group(1)
    late = fragment("ysXw", "vw5LmwG4y/e6dPP/zAP9Gp5k", "1 1 udp 2122260223 127.0.0.1 9 typ host")
    assert endpoint.ask("PATCH", session, late, FRAGMENT, If_Match=headers["ETag"])[0] == 412
    assert endpoint.ask("PATCH", session, late, FRAGMENT, If_Match=again["ETag"])[0] == 204


def test_a_session_is_ended_whatever_its_tag(endpoint):
    """§4.2, §4.3.1: DELETE ignores If-Match; then there is nothing."""
    session = endpoint.open()[0]
    assert endpoint.ask("DELETE", session, If_Match='"other"')[0] == 200
    assert endpoint.ask("DELETE", session)[0] == 404
    assert endpoint.ask("PATCH", session, fragment(*OURS), FRAGMENT, If_Match="*")[0] == 404


# Our client

class Publishing:
    """A server that takes down what a client says, and answers with an answer that leads nowhere."""

    ANSWER = PUBLISHES.replace("a=sendonly\r\na=msid:s v", "a=recvonly").replace("actpass", "passive").replace(
        "a=mid:0\r\n", "a=mid:0\r\na=candidate:1 1 udp 2122260223 127.0.0.1 9 typ host\r\n").replace("a=ice-options:trickle\r\n", "a=ice-lite\r\n")

    def __init__(self):
        self.requests = []
        self.stun = LateSTUN()
        self.server = HTTPServer(self.handle)

    async def handle(self, message):
        body = await message.text()
        self.requests.append((message.method, message.path, message.headers.copy(), body))
        if message.path == "/whip":
            return web.Response(status=307, headers={"Location": "/elsewhere/whip"})
        if message.method == "POST":
            # The client has a candidate that its offer has not, while it knows neither the session nor the tag.
            self.stun.may_answer.set()
            await asyncio.to_thread(self.stun.answered.wait, 10)
            self.requests.append(("answered", "", {}, ""))
            return web.Response(status=201, text=answer_to(body), content_type="application/sdp",
                                headers={"Location": "session/7", "ETag": '"tag-1"'})
        return web.Response(status=204 if message.method == "PATCH" else 200)

    def wait(self, method, timeout=20):
        self.server.wait(lambda: any(entry[0] == method and entry[1] != "/whip" for entry in self.requests), timeout, lambda: f"{method}: {self.requests}")
        return next(entry for entry in self.requests if entry[0] == method and entry[1] != "/whip")

    def stop(self):
        self.server.stop()
        self.stun.stop()


def answer_to(offer):
    """The first m-section is taken with its first codec, the others are refused."""
    lines, sections = [], re.split(r"(?m)^(?=m=)", offer)
    port = 9
    for index, section in enumerate(sections[1:]):
        kind, _, profile, first = re.match(r"m=(\w+) (\d+) (\S+) (\d+)", section).groups()
        mid = re.search(r"a=mid:(\S+)", section).group(1)
        attributes = [line for line in section.splitlines() if re.match(rf"a=(rtpmap|fmtp):{first} ", line)]
        lines += [f"m={kind} {port if index == 0 else 0} {profile} {first}", "c=IN IP4 0.0.0.0", f"a=mid:{mid}", "a=recvonly", "a=rtcp-mux",
                  "a=ice-ufrag:wxyz", "a=ice-pwd:abcdefghijklmnopqrstuvwx", f"a=fingerprint:sha-256 {FINGERPRINT}", "a=setup:passive",
                  "a=candidate:1 1 udp 2122260223 127.0.0.1 9 typ host", *attributes]
    first_mid = re.search(r"a=mid:(\S+)", sections[1]).group(1)
    return "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", f"a=group:BUNDLE {first_mid}", "a=ice-lite", *lines, ""])


def test_our_client_publishes_as_it_must(cast):
    """§4.2 to §4.7: POST with a token, follows 307, offers to send in one BUNDLE, one MediaStream; trickles with the tag; DELETE at the end."""
    server = Publishing()
    try:
        rtcast = cast("test", "--fps", "5", "--size", "320x180", "--tone", "440", "--to", server.server.url + "/whip", "--token", TOKEN,
                      "--ice-server", server.stun.url)
        method, path, headers, offer = server.wait("POST")
        assert path == "/elsewhere/whip" and headers["Content-Type"] == "application/sdp"
        assert headers["Authorization"] == f"Bearer {TOKEN}"
        sections = re.split(r"(?m)^(?=m=)", offer)
        assert all("a=sendonly" in section and "a=rtcp-mux\r\n" in section and "a=setup:actpass" in section for section in sections[1:])
        mids = re.findall(r"a=mid:(\S+)", offer)
        assert re.search(r"a=group:BUNDLE (.+)\r", sections[0]).group(1).split() == mids
        assert len({stream for stream in re.findall(r"a=msid:(\S+) ", offer)}) == 1
        assert "a=ice-lite" not in offer, "full ICE"
        assert LateSTUN.MAPPED[0] not in offer, "the server of STUN had not answered"
        _, path, headers, body = server.wait("PATCH")
        methods = [entry[0] for entry in server.requests]
        assert methods.index("PATCH") > methods.index("answered"), "it waits for the session and its tag"
        assert path == "/elsewhere/session/7" and headers["Content-Type"] == FRAGMENT and headers["If-Match"] == '"tag-1"'
        assert headers["Authorization"] == f"Bearer {TOKEN}"
        address, port = LateSTUN.MAPPED
        assert re.search(rf"a=candidate:\S+ 1 udp \d+ {re.escape(address)} {port} typ srflx", body, re.I), body
        ufrag = re.search(r"a=ice-ufrag:(\S+)", offer).group(1)
        assert f"a=ice-ufrag:{ufrag}\r\n" in body
        rtcast.interrupt()
        rtcast.wait()
        _, path, headers, _ = server.wait("DELETE")
        assert path == "/elsewhere/session/7" and headers["Authorization"] == f"Bearer {TOKEN}"
    finally:
        server.stop()
