"""Streams of several hubs on one Redis (docs/cluster.md): a viewer that asks the wrong hub is sent to the right one."""

import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest

from harness import redis as redis_server
from harness.browser import Viewer
from harness.clusters import redis, ripen  # noqa: F401
from harness.processes import wait_for
from harness.rtcast import run

pytestmark = pytest.mark.skipif(redis_server.missing() is not None, reason=redis_server.missing() or "")

TOKEN = "between-all-the-hubs-and-us"


def start(cast, redis, *options, token=TOKEN):
    secret = ("--token", token) if token else ()
    hub = cast("serve", "--listen", "127.0.0.1:0", *secret, "--cluster", redis.url, "--control", *options, stdin=subprocess.PIPE)
    hub.address = hub.url().partition("#")[0]
    return hub


@pytest.fixture
def hubs(cast, redis):  # noqa: F811
    started = [start(cast, redis) for _ in range(3)]
    ripen(redis)
    return started


def publish(cast, hub, name, token=TOKEN):
    secret = ("--token", token) if token else ()
    publisher = cast("test", "--size", "320x180", "--to", hub.address + "whip/" + urllib.parse.quote(name, safe=""), *secret)
    publisher.wait_event("peer", where=lambda event: event["state"] == "published")
    return publisher


class Unmoved(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


def ask(url, method="GET", token=TOKEN, body=None, **headers):
    """Status, headers and text of a request that follows no redirect."""
    given = {"Authorization": f"Bearer {token}"} if token else {}
    if body is not None:
        given["Content-Type"] = "application/sdp"
    message = urllib.request.Request(url, method=method, data=body, headers={**given, **{key.replace("_", "-"): text for key, text in headers.items()}})
    try:
        with urllib.request.build_opener(Unmoved).open(message, timeout=10) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def listed(hub, token=TOKEN):
    status, _, text = ask(hub.address + "streams", token=token)
    assert status == 200, text
    return {stream["name"]: stream.get("address") for stream in json.loads(text)["streams"]}


def test_a_viewer_that_asks_the_wrong_hub_is_redirected(hubs, cast):
    name = "Müller's desk"
    publisher = publish(cast, hubs[1], name)
    path = urllib.parse.quote(name, safe="")
    for hub in hubs[0], hubs[2]:
        wait_for(lambda: listed(hub) == {name: hubs[1].address}, "the stream in the list of another hub")
        status, headers, text = ask(hub.address + "whep/" + path, "POST", body=b"v=0\r\n")
        assert status == 307 and headers["Location"] == hubs[1].address + "whep/" + path, (status, text)
        # It is the only one of all hubs.
        assert ask(hub.address + "whep", "POST", body=b"v=0\r\n")[1]["Location"] == hubs[1].address + "whep/" + path
        status, headers, _ = ask(hub.address + f"snapshot/{path}?width=300")
        assert status == 307 and headers["Location"] == hubs[1].address + f"snapshot/{path}?width=300"
        assert ask(hub.address + "whep/" + path, "POST", token="wrong-token-of-a-thief", body=b"v=0\r\n")[0] == 401
    assert listed(hubs[1]) == {name: None}
    # A program follows, with its token.
    watching = cast("watch", f"{hubs[0].address}whep/{path}", "--token", TOKEN, "--no-window")
    watching.wait_event("track")
    # So does a program that is told to trust the place: the other hub reads the offer, which is none.
    done = subprocess.run(
        ["curl", "--silent", "--location-trusted", "--header", f"Authorization: Bearer {TOKEN}", "--header", "Content-Type: application/sdp",
         "--data-binary", "v=0", "--output", "/dev/null", "--write-out", "%{http_code} %{url_effective}", hubs[0].address + "whep/" + path],
        capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout in {f"{status} {hubs[1].address}whep/{path}" for status in (400, 422)}, done.stdout
    # The name is taken everywhere.
    status, _, errors = run("test", "--size", "320x180", "--to", hubs[2].address + "whip/" + path, "--token", TOKEN, "--duration", "5")
    assert status != 0 and "already" in errors, errors
    publisher.stop()
    for hub in hubs:
        wait_for(lambda: listed(hub) == {}, "end of the stream")
    assert ask(hubs[0].address + "whep/" + path, "POST", body=b"v=0\r\n")[0] == 404
    publish(cast, hubs[2], name)
    wait_for(lambda: listed(hubs[0]) == {name: hubs[2].address}, "the stream at its new hub")


@pytest.mark.parametrize("credential", ["token", "link for one", "none"])
def test_the_page_of_a_browser_goes_to_the_hub_that_has_the_stream(cast, redis, browser, credential):  # noqa: F811
    token = None if credential == "none" else TOKEN
    hubs = [start(cast, redis, token=token) for _ in range(2)]
    ripen(redis)
    publish(cast, hubs[1], "a desk", token)
    wait_for(lambda: "a desk" in listed(hubs[0], token), "the stream in the list of the other hub")
    shown = token
    if credential == "link for one":
        status, out, errors = run("link", hubs[0].address, "--token", TOKEN, "--json", "--role", "watch", "--uses", "1")
        assert status == 0, errors
        shown = json.loads(out)["token"]
    browser.get("about:blank")
    viewer = Viewer(browser, hubs[0].address + "watch?stream=a%20desk" + (f"#token={shown}" if shown else "")).wait_live()
    assert browser.current_url.startswith(hubs[1].address) and "token" not in browser.current_url
    browser.refresh()
    viewer.wait_live()
    if credential == "link for one":
        for hub in hubs:
            status, _, text = ask(hub.address + "snapshot/nothing", token=shown, RTCast_Client="somebody-else-16-long")
            assert status == 401 and "used as often" in text


def test_the_wall_of_each_hub_shows_the_streams_of_all(hubs, cast, browser):
    for hub, name in zip(hubs, ("one", "two")):
        publish(cast, hub, name)
    wait_for(lambda: len(listed(hubs[2])) == 2, "both streams")
    browser.get("about:blank")
    browser.get(hubs[0].address + "wall#token=" + TOKEN)
    page = Viewer.__new__(Viewer)
    page.driver, page.handle = browser, browser.current_window_handle
    page.until("document.querySelectorAll('.tile[data-state=live]').length === 2", what="two tiles")
    page.until("document.querySelector('.tile[data-name=one][data-picture]')", what="a picture of the hub's own stream")
    tile = "document.querySelector('.tile[data-name=two]')"
    assert page.script(f"return {tile}.innerText").count(hubs[1].address.split("/")[2]) == 1
    page.script(f"{tile}.dispatchEvent(new Event('pointerdown')); {tile}.click()")
    if len(browser.window_handles) > 1:
        browser.switch_to.window(browser.window_handles[-1])
        page.handle = browser.current_window_handle
    page.wait_live()
    assert browser.current_url.startswith(hubs[1].address)


def test_streams_of_a_failed_hub_are_free_and_redis_may_fail(hubs, cast, redis):  # noqa: F811
    publisher = publish(cast, hubs[1], "desk")
    wait_for(lambda: "desk" in listed(hubs[0]), "the stream")
    redis.kill()
    wait_for(lambda: '"degraded"' in ask(hubs[0].address + "health")[2], "degraded hub")
    # Known streams are found, and nobody can say whether a new name is free.
    assert ask(hubs[0].address + "whep/desk", "POST", body=b"v=0\r\n")[0] == 307
    status, headers, text = ask(hubs[0].address + "whip/new", "POST", body=b"v=0\r\n")
    assert status == 503 and headers["Retry-After"] and "cannot reach the other hubs" in text
    redis.start()
    # Redis has lost everything, and the hub states its stream again.
    wait_for(lambda: redis.cli("hexists", "{rtcast}:streams", "desk") == "1", "the stream in Redis")
    wait_for(lambda: '"degraded"' not in ask(hubs[0].address + "health")[2], "the other hub")
    assert ask(hubs[0].address + "whip/desk", "POST", body=b"v=0\r\n")[0] == 409
    hubs[1].process.kill()
    publisher.process.kill()
    wait_for(lambda: listed(hubs[0]) == {}, "end of the lease")
    publish(cast, hubs[0], "desk")


def test_hubs_with_one_address_say_what_to_do(cast, redis):  # noqa: F811
    hubs = [start(cast, redis, "--public-url", "http://hubs.example/") for _ in range(2)]
    ripen(redis)
    publish(cast, hubs[1], "desk")
    wait_for(lambda: "desk" in listed(hubs[0]), "the stream")
    status, _, text = ask(hubs[0].address + "whep/desk", "POST", body=b"v=0\r\n")
    assert status == 503 and "--cluster-address" in text
    third = start(cast, redis, "--public-url", "http://hubs.example/", "--cluster-address", "http://hub3.example/rtcast")
    publish(cast, third, "three")
    wait_for(lambda: "three" in listed(hubs[0]), "the stream")
    assert ask(hubs[0].address + "whep/three", "POST", body=b"v=0\r\n")[1]["Location"] == "http://hub3.example/rtcast/whep/three"
    status, _, errors = run("serve", "--cluster-address", "http://hub3.example")
    assert status == 64 and "need --cluster" in errors
