"""A cast and a hub behind nginx, Caddy and HAProxy, with the recipes of docs/proxies.md: under a path and at the root, with TLS at the proxy."""

import asyncio
import http.client
import json
import socket
import stat
import subprocess
import time
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from harness import proxies
from harness.browser import Viewer, chromium
from harness.hub_page import HubPage
from harness.processes import wait_for
from harness.rtcast import Rtcast, run
from harness.signaling import NativeClient, untrusting
from test_whep import OFFER

TOKEN = "a-token-of-some-length"
FRAGMENT = "application/trickle-ice-sdpfrag"
CREDENTIALS = "a=ice-ufrag:{}\r\na=ice-pwd:{}\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\n"
CANDIDATE = "a=candidate:1 1 udp 2122260223 192.0.2.77 50000 typ host\r\n"
CLOCK = ["test", "--pattern", "clock", "--size", "640x360", "--fps", "10"]
# The client's own address, so that it is told from the proxies'.
CLIENT = "127.0.0.2"
PLACES = [(kind, place) for kind in proxies.KINDS for place in ("path", "root")]


class World:
    """One cast and one hub with a port each, one of each with a socket, and the proxies in front of all of them."""

    def __init__(self, folder):
        self.folder = folder
        self.started = []
        ports = {name: proxies.free_port() for name in ("cast", "hub")}
        sockets = {name: folder / f"{name}.sock" for name in ("cast", "hub")}
        self.proxies = {kind: proxies.Proxy(kind) for kind in proxies.KINDS}
        self.urls = {}
        for kind, place in PLACES:
            for name in ("cast", "hub"):
                # HAProxy's recipe for the root is for a port.
                upstream = sockets[name] if place == "root" and kind != "haproxy" else f"127.0.0.1:{ports[name]}"
                port = self.proxies[kind].add(place, upstream, f"/{name}")
                self.urls[kind, place, name] = f"https://localhost:{port}/" + (f"{name}/" if place == "path" else "")
        # The outer proxy is HAProxy, and nginx is between it and the cast.
        inner = urlsplit(self.urls["nginx", "path", "cast"]).netloc
        chain = proxies.recipes()["haproxy", "path"].replace("server cast 127.0.0.1:8080", f"server cast {inner} ssl verify none")
        self.urls["row"] = f"https://localhost:{self.proxies['haproxy'].add('path', '', None, chain)}/cast/"
        self.audit = folder / "audit"
        self.casts = []
        for command, name in ((CLOCK, "cast"), (["serve"], "hub")):
            public = ["--public-url", self.urls["nginx", "path", name], "--token", TOKEN]
            self.begin(*command, "--listen", f"127.0.0.1:{ports[name]}", "--trusted-proxy", "127.0.0.1", "--audit", f"{self.audit}-{name}-port", *public)
            self.begin(*command, "--listen", f"unix:{sockets[name]}", "--audit", f"{self.audit}-{name}-socket", *public)
        for proxy in self.proxies.values():
            proxy.start()

    def begin(self, *arguments):
        process = Rtcast(*arguments)
        self.started.append(process)
        self.casts.append(process.listening())

    def audited(self, kind, place, name):
        port = "socket" if place == "root" and kind != "haproxy" else "port"
        return [json.loads(line) for line in Path(f"{self.audit}-{name}-{port}").read_text().splitlines()]

    def stop(self):
        for each in [*self.proxies.values(), *self.started]:
            each.stop()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    if why := proxies.missing():
        pytest.skip(why)
    world = World(tmp_path_factory.mktemp("proxies"))
    yield world
    world.stop()


@pytest.fixture(scope="module")
def browser():
    browser = chromium(size=(800, 600))
    browser.execute_cdp_cmd("Security.setIgnoreCertificateErrors", {"ignore": True})
    yield browser
    browser.quit()


class Client:
    """Requests of one client, from an address of its own."""

    def __init__(self, url, token=TOKEN):
        self.url, self.token = url, token

    def ask(self, method, reference="", body=None, content_type=None, **headers):
        """(status, headers, body, URL); `reference` is relative to the page."""
        url = urljoin(self.url, reference)
        place = urlsplit(url)
        connection = http.client.HTTPSConnection("localhost", place.port, timeout=10, source_address=(CLIENT, 0), context=untrusting())
        try:
            connection.request(method, place.path + (f"?{place.query}" if place.query else ""), body, {
                "Host": place.netloc, "Authorization": f"Bearer {self.token}", **({"Content-Type": content_type} if content_type else {}),
                **{name.replace("_", "-"): value for name, value in headers.items()}})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read(), url
        finally:
            connection.close()


def session_of_its_own(client, offer_at="whep"):
    """Everything that a viewer asks for, in order; returns the paths of the session's Location."""
    status, headers, page, _ = client.ask("GET")
    assert status == 200 and b"<video" in page
    status, found, page, _ = client.ask("HEAD")
    assert status == 200 and not page and found["ETag"]
    status, found, picture, _ = client.ask("GET", "snapshot.webp")
    assert status == 200 and found["Content-Type"] == "image/webp" and picture[:4] == b"RIFF"
    assert json.loads(client.ask("GET", "health")[2])
    status, opened, answer, url = client.ask("POST", offer_at, OFFER.encode(), "application/sdp")
    assert status == 201 and b"a=candidate:" in answer, (status, answer)
    assert not opened["Location"].startswith("/") and "://" not in opened["Location"]
    session = urljoin(url, opened["Location"])
    fragment = CREDENTIALS.format("abcd", "abcdefghijklmnopqrstuvwx") + CANDIDATE
    assert client.ask("PATCH", session, fragment.encode(), FRAGMENT, If_Match=opened["ETag"])[0] == 204
    restart = CREDENTIALS.format("wxyz", "zyxwvutsrqponmlkjihgfedc")
    status, restarted, fragment, _ = client.ask("PATCH", session, restart.encode(), FRAGMENT, If_Match="*")
    assert status == 200 and restarted["ETag"] != opened["ETag"] and b"a=ice-ufrag:" in fragment
    status, found, _, _ = client.ask("HEAD", session)
    assert status == 204 and found["ETag"] == restarted["ETag"]
    assert client.ask("DELETE", session)[0] == 200
    assert client.ask("HEAD", session)[0] == 404
    return session


@pytest.mark.parametrize("kind,place", PLACES, ids=[f"{kind} {place}" for kind, place in PLACES])
def test_a_session_is_opened_amended_and_ended(world, kind, place):
    """Page, HEAD, snapshot, offer, trickled candidate, ICE restart, end; and the audit log names the client, not the proxy."""
    client = Client(world.urls[kind, place, "cast"])
    session = session_of_its_own(client)
    assert session.startswith(client.url + "whep/session/")
    wait_for(lambda: CLIENT in {line.get("address") for line in world.audited(kind, place, "cast")}, "line with the client's address")


def test_two_proxies_in_a_row(world):
    client = Client(world.urls["row"])
    assert session_of_its_own(client).startswith(client.url)


@pytest.mark.parametrize("kind,place", PLACES, ids=[f"{kind} {place}" for kind, place in PLACES])
def test_the_picture_comes(world, browser, kind, place):
    viewer = Viewer(browser, f"{world.urls[kind, place, 'cast']}#token={TOKEN}").wait_live()
    assert viewer.size() == (640, 360)


@pytest.mark.parametrize("kind,place", PLACES, ids=[f"{kind} {place}" for kind, place in PLACES])
def test_the_hub_is_reached_by_page_and_program(world, browser, kind, place):
    """By WebSocket, from the page and from a program, one after the other on the proxy's connections."""
    url = world.urls[kind, place, "hub"]
    assert Client(url).ask("GET")[0] == 200

    async def talk():
        async with await NativeClient.enter(url, token=TOKEN) as one, await NativeClient.enter(url, token=TOKEN) as other:
            await one.signal(other.name, "hello")
            assert (await other.hear(type="signal"))["data"] == "hello"

    asyncio.run(talk())
    HubPage(browser, f"{url}#token={TOKEN}", f"{kind}-{place}").join()


@pytest.mark.parametrize("kind", proxies.KINDS)
def test_a_path_without_its_slash_shows_the_page(world, browser, kind):
    viewer = Viewer(browser, f"{world.urls[kind, 'path', 'cast'].rstrip('/')}#token={TOKEN}").wait_live()
    assert viewer.size() == (640, 360)


def test_a_publisher_of_ours_follows_relative_locations(world, cast):
    """`--to` a hub under a path: published, watched through another proxy, and ended by DELETE."""
    base = world.urls["nginx", "path", "hub"]
    authority = world.proxies["nginx"].pem
    ours = cast(*CLOCK, "--to", base + "whip/talk", "--token", TOKEN, env={"SSL_CERT_FILE": str(authority)})
    ours.wait_event("peer", where=lambda event: event["state"] == "published")
    elsewhere = Client(world.urls["caddy", "path", "hub"])
    deadline = time.monotonic() + 10
    while elsewhere.ask("POST", "whep/talk", OFFER.encode(), "application/sdp")[0] != 201:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    ours.interrupt()
    assert ours.wait() == 0


def test_links_have_the_public_address(world):
    for name, (port, sock) in {"cast": world.casts[:2], "hub": world.casts[2:]}.items():
        link = f"{world.urls['nginx', 'path', name]}#token={TOKEN}"
        assert port["urls"] == sock["urls"] == [link]
        assert port["url"].startswith("http://127.0.0.1:") and sock["url"] == link
        status, made, _ = run("link", link, "--role", "watch", "--stream", "talk", "--json")
        assert status == 0 and json.loads(made)["link"].startswith(f"{world.urls['nginx', 'path', name]}watch?stream=talk#token=")


@pytest.mark.parametrize("url,says", [
    ("https://me:secret@lab.example/", "user name or password"), ("https://lab.example/#token=x", "leave out everything after"),
    ("lab.example", "not the address of a web page"), ("https://lab.example/a/../b?x", "leave out everything after"),
])
def test_a_public_address_that_cannot_be_used_is_refused(url, says):
    status, _, complaint = run("test", "--public-url", url)
    assert status == 64 and says in complaint


@pytest.mark.parametrize("url", ["https://[2001:db8::1]:8443/cast", "http://lab.example", "https://lab.example/a/b/"])
def test_the_printed_link_is_the_public_address(cast, url):
    listening = cast(*CLOCK, "--public-url", url).listening()
    assert listening["urls"] == [f"{url.rstrip('/')}/#token={listening['token']}"]


def test_a_socket_is_replaced_only_if_nobody_listens_there(cast, tmp_path):
    path = tmp_path / "cast.sock"
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(path))
    dead.close()
    first = cast(*CLOCK, "--listen", f"unix:{path}", "--listen-mode", "0666")
    first.listening()
    assert stat.S_IMODE(path.stat().st_mode) == 0o666
    status, _, complaint = run(*CLOCK, "--listen", f"unix:{path}")
    assert status == 69 and "Another program listens" in complaint
    answer = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", path, "http://localhost/health"],
                            capture_output=True, text=True)
    assert answer.stdout == "200"
    first.interrupt()
    assert first.wait() == 0 and not path.exists()
    path.write_text("a file of somebody")
    status, _, complaint = run(*CLOCK, "--listen", f"unix:{path}")
    assert status == 69 and path.read_text() == "a file of somebody", complaint


def test_what_an_untrusted_proxy_says_has_no_effect(world, tmp_path, cast):
    """The headers and the PROXY protocol of an address that is not named."""
    audit = tmp_path / "audit"
    listening = cast(*CLOCK, "--token", TOKEN, "--audit", str(audit), "--trusted-proxy", "192.0.2.1").listening()
    place = urlsplit(listening["url"])
    with socket.create_connection((place.hostname, place.port)) as sock:
        sock.sendall(b"GET /snapshot.webp HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.7\r\nAuthorization: Bearer "
                     + TOKEN.encode() + b"\r\nConnection: close\r\n\r\n")
        assert b" 200 " in sock.recv(100)
    with socket.create_connection((place.hostname, place.port)) as sock:
        sock.sendall(b"PROXY TCP4 203.0.113.7 192.0.2.1 1 2\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 400 " in sock.recv(100)
    wait_for(lambda: audit.exists() and audit.read_text(), "line in the audit log")
    assert {json.loads(line)["address"] for line in audit.read_text().splitlines()} == {"127.0.0.1"}
