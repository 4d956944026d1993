"""Who gets in, and who does not: the links of casts and hubs, links that are signed with their secrets, and what others may do without."""

import asyncio
import json
import re
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import aiortc
import pytest

from harness.browser import Viewer
from harness.rtcast import BINARY, STATE, bearer, run, surroundings
from harness.signaling import NativeClient, untrusting

CAST = ("test", "--pattern", "clock", "--fps", "5", "--size", "320x180")


def ask(url, method="GET", token=None, body=None, headers=None):
    """(status, body, headers), errors included."""
    headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
    message = urllib.request.Request(url, data=body, method=method, headers=headers)
    try:
        with urllib.request.urlopen(message, timeout=10, context=untrusting()) as answer:
            return answer.status, answer.read().decode(errors="replace"), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def knock(whep, token=None, **headers):
    """The status of an offer that would be no use: 400 for whoever is let in, or 404 where nothing is published."""
    return ask(whep, "POST", token, b"v=0", {"Content-Type": "application/sdp", **headers})[0]


def link(*arguments, env=None, stdin=b""):
    """What `rtcast link` makes, as its JSON has it."""
    status, out, err = run("link", *arguments, "--json", env=env, stdin=stdin)
    assert status == 0, err
    return json.loads(out)


def at(seconds, *command):
    """Runs rtcast on a machine whose clock differs by so many seconds; what it prints."""
    return subprocess.run(["faketime", "-f", f"{seconds:+d}s", BINARY, *command], capture_output=True, text=True, env=surroundings())


@pytest.mark.quick
def test_every_cast_has_a_secret_of_its_own_on_loopback_too(cast, browser):
    events = [cast(*CAST).listening() for _ in range(2)]
    assert events[0]["token"] != events[1]["token"] and len(events[0]["token"]) >= 22
    event = events[0]
    assert event["url"].endswith(f"/#token={event['token']}") and event["urls"] == [event["url"]] and "hub" not in event
    assert knock(event["whep"]) == 401
    assert knock(event["whep"], events[1]["token"]) == 401
    assert knock(event["whep"], event["token"]) == 400
    viewer = Viewer(browser, event["url"]).wait_live()
    # The address bar has lost the secret; the tab keeps it for when the page is loaded anew.
    assert viewer.script("return location.href") == event["url"].split("#")[0]
    browser.refresh()
    viewer.wait_live()
    # Others who open the bare address are asked for it.
    other = Viewer(browser, event["url"].split("#")[0], new_tab=True)
    other.until("rtcast.state === 'denied'")
    # They may paste all that they were sent.
    other.script("document.getElementById('secret').value = arguments[0]; document.getElementById('gate').requestSubmit()", event["url"])
    other.wait_live()
    other.close()


def test_a_cast_has_no_hub(cast):
    event = cast(*CAST).listening()
    for path in ("/hub", "/peerjs", "/skyrtc", "/peerjs/id", "/whip/x"):
        assert ask(urljoin(event["url"], path), token=event["token"])[0] == 404, path


def test_open_is_everybody(cast, browser):
    event = cast(*CAST, "--open").listening()
    assert "token" not in event and "#" not in event["url"]
    assert knock(event["whep"]) == 400
    Viewer(browser, event["url"]).wait_live()
    # But no page of another origin, whatever part of the origin differs, and under no name that others could point here.
    port = urlsplit(event["url"]).port
    for origin in ("http://evil.example", "http://127.0.0.1:9999", f"http://localhost:{port}", f"https://127.0.0.1:{port}", "null"):
        assert knock(event["whep"], Origin=origin) == 403, origin
    assert knock(event["whep"], Origin=f"http://127.0.0.1:{port}") == 400
    assert knock(event["whep"], Host=f"rebound.example:{port}") == 403


def test_a_hub_beyond_loopback_makes_a_secret_and_keeps_it(cast, tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    hub = cast("serve", "--listen", "0.0.0.0:0", env=state)
    event = hub.listening()
    base = event["url"].split("#")[0]
    assert event["url"].endswith("#token=" + event["token"]) and all(url.endswith("#token=" + event["token"]) for url in event["urls"])
    kept = tmp_path / "rtcast/serve-token"
    assert kept.read_text() == event["token"] + "\n" and kept.stat().st_mode & 0o777 == 0o600
    for path, method in (("metrics", "GET"), ("whep", "POST"), ("whip/x", "POST")):
        assert ask(base + path, method, body=b"" if method == "POST" else None)[0] == 401, path
    assert json.loads(ask(base + "health")[1]) == {"status": "live"}
    assert ask(base + "metrics", token=event["token"])[0] == 200

    async def work():
        async with await NativeClient.open(event["hub"]) as stranger:
            await stranger.say({"type": "register", "id": "eve"})
            assert (await stranger.hear())["code"] == "bad-token"
    asyncio.run(work())
    hub.stop()
    assert cast("serve", "--listen", "0.0.0.0:0", env=state).listening()["token"] == event["token"]
    # A link to it needs neither its address nor its secret, on its own machine.
    made = link("--role", "call", env=state)
    assert made["token"].startswith("rl1.c.")


def test_the_kept_secret_signs_for_the_hub_and_no_other_server(cast, tmp_path):
    """A link that the server would refuse is not made."""
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    hub = cast("serve", "--listen", "0.0.0.0:0", "--host-name", "hub.example", env=state).listening()
    other = cast(*CAST, env=state).listening()
    status, out, err = run("link", other["url"].split("#")[0], "--role", "watch", env=state)
    assert status == 64 and not out and "--token-file" in err and "secret" in err, (status, out, err)
    port = urlsplit(hub["url"]).port
    for address in [*(url.split("#")[0] for url in hub["urls"]), f"http://localhost:{port}/", "https://hub.example/"]:
        made = link(address, "--role", "watch", env=state)
        assert made["link"].startswith(address), made
        assert knock(hub["whep"], made["token"]) == 404


def test_tokens_of_names_alone_leave_nothing_else_open(cast, tmp_path):
    """Finding A1."""
    tokens = tmp_path / "tokens"
    tokens.write_text("alice hers\n")
    tokens.chmod(0o600)
    event = cast("serve", "--listen", "127.0.0.1:0", "--tokens", str(tokens)).listening()
    base = event["url"].split("#")[0]
    for token in (None, "hers"):
        assert ask(base + "metrics", token=token)[0] == 401
        assert ask(base + "whip/x", "POST", token, b"")[0] == 401
        assert knock(base + "whep", token) == 401


def test_the_link_of_a_network_shows_what_plain_http_does_not_protect(cast):
    plain = cast(*CAST, "--listen", "0.0.0.0:0")
    assert plain.listening()["token"]
    secure = cast(*CAST, "--listen", "0.0.0.0:0", "--tls")
    event = secure.listening()
    assert event["url"].startswith("https://") and event["whep"].startswith("https://") and event["fingerprint"]
    assert knock(event["whep"]) == 401 and knock(event["whep"], event["token"]) == 400
    for process in (plain, secure):
        process.stop()
    assert any("Plain HTTP" in line and "--tls" in line for line in plain.stderr), plain.stderr
    assert not any("Plain HTTP" in line for line in secure.stderr), secure.stderr


ROLES = {
    "watch": {"whep": 404, "whip/talk": 403, "metrics": 403, "hub": "link-for-other"},
    "publish": {"whep": 403, "whip/talk": 400, "metrics": 403, "hub": "link-for-other"},
    "call": {"whep": 403, "whip/talk": 403, "metrics": 403, "hub": None},
    "metrics": {"whep": 403, "whip/talk": 403, "metrics": 200, "hub": "link-for-other"},
}


@pytest.mark.parametrize("role", ROLES)
def test_a_signed_link_gives_one_right_and_no_other(role, cast):
    event = cast("serve", "--listen", "127.0.0.1:0", "--token", "a secret".replace(" ", "-")).listening()
    made = link(event["url"], "--role", role, "--expires", "2h")
    base, expected = event["url"].split("#")[0], ROLES[role]
    assert urlsplit(made["link"]).fragment == "token=" + made["token"] and 7190 < made["expires"] - time.time() <= 7200
    assert knock(base + "whep", made["token"]) == expected["whep"]
    assert ask(base + "whip/talk", "POST", made["token"], b"v=0", {"Content-Type": "application/sdp"})[0] == expected["whip/talk"]
    assert ask(base + "metrics", token=made["token"])[0] == expected["metrics"]

    async def enter():
        async with await NativeClient.open(event["hub"]) as client:
            await client.say({"type": "register", "id": "carol", "token": made["token"]})
            return (await client.hear()).get("code")
    assert asyncio.run(enter()) == expected["hub"]


def test_a_link_altered_in_one_character_lets_nobody_in(cast):
    event = cast(*CAST).listening()
    token = link(event["url"], "--role", "watch")["token"]
    assert knock(event["whep"], token) == 400
    other = {"A": "B", "a": "b", "0": "1", ".": "-"}
    # Every tenth, for ten wrong tries at once are all that an address has; and the last, of which base64 takes only some bits.
    for place in [*range(3, len(token), len(token) // 6), len(token) - 1]:
        altered = token[:place] + other.get(token[place], "A") + token[place + 1:]
        assert knock(event["whep"], altered) == 401, (place, altered)
    assert knock(event["whep"], token) == 400


def test_wrong_tries_are_slowed_for_their_address(cast):
    rtcast = cast(*CAST)
    event = rtcast.listening()
    statuses = [knock(event["whep"], "guess-%d" % number) for number in range(14)]
    assert statuses[:10] == [401] * 10 and set(statuses[10:]) == {429}, statuses
    status, text, headers = ask(event["whep"], "POST", "guess", b"v=0", {"Content-Type": "application/sdp"})
    assert status == 429 and int(headers["Retry-After"]) >= 1 and "your address" in text
    # What is right is not slowed: the cast's own token, and a link that it has signed.
    right = [event["token"], link(event["url"], "--role", "watch")["token"]]
    assert [knock(event["whep"], token) for token in right * 10] == [400] * 20
    # Nor are those at another address of this machine.
    opener = urllib.request.build_opener(Elsewhere("127.0.0.7"))
    request = urllib.request.Request(event["whep"], b"v=0", {"Content-Type": "application/sdp", **bearer({"token": "guess"})})
    with pytest.raises(urllib.error.HTTPError) as refusal:
        opener.open(request, timeout=10)
    assert refusal.value.code == 401
    # All of them are one line of the log.
    rtcast.stop()
    lines = [line for line in rtcast.stderr if "wrong token" in line]
    assert len(lines) == 1 and "127.0.0.1" in lines[0] and "guess" not in lines[0], rtcast.stderr


def test_the_audit_log_says_who_was_admitted_refused_and_shut_out(cast, tmp_path):
    log = tmp_path / "audit.jsonl"
    log.write_text("before\n")
    rtcast = cast(*CAST, "--control", "--audit", str(log), stdin=subprocess.PIPE)
    event = rtcast.listening()
    made = link(event["url"], "--role", "watch")
    assert ask(event["whep"], "POST", "guess", b"v=0", {"Content-Type": "application/sdp"})[0] == 401
    assert ask(urljoin(event["url"], "/snapshot.webp"), token=made["token"])[0] == 200
    offer = asyncio.run(some_offer())
    assert ask(event["whep"], "POST", made["token"], offer, {"Content-Type": "application/sdp"})[0] == 201
    assert ask(event["whep"], "POST", event["token"], offer, {"Content-Type": "application/sdp"})[0] == 201
    rtcast.command("revoke", made["token"])
    rtcast.wait_event("control")
    assert ask(event["whep"], "POST", made["token"], offer, {"Content-Type": "application/sdp"})[0] == 401
    lines = log.read_text().splitlines()
    assert lines[0] == "before"
    told = [json.loads(line) for line in lines[1:]]
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entry.pop("time")) for entry in told)
    by = {"right": "watch", "by": "link", "link": made["id"], "address": "127.0.0.1"}
    assert told == [
        {"event": "refused", "reason": "bad-token", "right": "watch", "address": "127.0.0.1"},
        {"event": "admitted", **by, "name": "snapshot.webp"},
        {"event": "admitted", **by},
        {"event": "admitted", "right": "watch", "by": "secret", "address": "127.0.0.1"},
        {"event": "revoked", "by": "link", "link": made["id"]},
        {"event": "refused", "reason": "link-revoked", **by},
    ]
    assert event["token"] not in log.read_text() and made["token"] not in log.read_text()


def test_the_audit_log_of_a_hub_is_for_its_owner_alone(cast, tmp_path):
    log = tmp_path / "audit.jsonl"
    event = cast("serve", "--listen", "127.0.0.1:0", "--token", "open-sesame-open-sesame", "--audit", str(log)).listening()

    async def work():
        async with await NativeClient.open(event["hub"]) as client:
            await client.say({"type": "register", "id": "alice", "token": "guess"})
            assert (await client.hear())["code"] == "bad-token"
            await client.say({"type": "register", "id": "alice", "token": event["token"]})
            assert (await client.hear())["type"] == "registered"
    asyncio.run(work())
    told = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(entry["event"], entry["right"], entry["name"], entry.get("by")) for entry in told] == [
        ("refused", "call", "alice", None), ("admitted", "call", "alice", "secret")]
    assert log.stat().st_mode & 0o777 == 0o600
    status, out, err = run("serve", "--listen", "127.0.0.1:0", "--audit", str(tmp_path / "none" / "log"))
    assert status != 0 and "audit log" in err


async def some_offer():
    peer = aiortc.RTCPeerConnection()
    peer.addTransceiver("video", direction="recvonly")
    await peer.setLocalDescription(await peer.createOffer())
    try:
        return peer.localDescription.sdp.encode()
    finally:
        await peer.close()


class Elsewhere(urllib.request.HTTPHandler):
    """Requests from another address of this machine."""

    def __init__(self, address):
        super().__init__()
        self.address = address

    def http_open(self, request):
        import http.client
        return self.do_open(lambda host, **more: http.client.HTTPConnection(host, source_address=(self.address, 0), **more), request)


def test_a_link_for_one_is_for_one_who_may_come_back(cast, browser):
    event = cast(*CAST).listening()
    made = link(event["url"], "--role", "watch", "--uses", "1")
    viewer = Viewer(browser, made["link"]).wait_live()
    browser.refresh()
    viewer.wait_live()
    other = Viewer(browser, made["link"], new_tab=True)
    other.until("rtcast.state === 'denied'")
    assert "used as often" in other.script("return document.querySelector('#headline').textContent")
    other.close()
    status, _, err = run("watch", made["link"], "--no-window", "--duration", "5")
    assert status == 77 and "used" in err, (status, err)


def test_the_viewer_of_a_revoked_link_is_told_and_leaves(cast, browser):
    process = cast(*CAST, "--control", stdin=subprocess.PIPE)
    event = process.listening()
    made, kept = (link(event["url"], "--role", "watch", "--name", name) for name in ("bob", "carol"))
    staying = cast("watch", kept["link"], "--no-window")
    staying.wait_event("track")
    leaving = cast("watch", made["link"], "--no-window")
    leaving.wait_event("track")
    viewer = Viewer(browser, made["link"]).wait_live()
    process.command("revoke", made["link"])
    assert process.wait_event("control")["command"] == "revoke"
    viewer.until("rtcast.state === 'denied'", what="told")
    assert "revoked" in viewer.script("return document.querySelector('#headline').textContent")
    assert leaving.wait(15) == 77 and any("revoked" in line for line in leaving.stderr), leaving.stderr
    process.wait_event("stats", where=lambda stats: stats["viewers"] == 1)
    process.command("revoke", kept["id"])
    assert staying.wait(15) == 77
    process.command("revoke", event["url"])
    assert "own secret" in process.wait_event("error")["message"]


def test_a_link_ends_with_its_viewers(cast, browser):
    event = cast(*CAST).listening()
    made = link(event["url"], "--role", "watch", "--expires", "6s")
    viewer = Viewer(browser, made["link"]).wait_live()
    viewer.until("rtcast.state === 'denied'", timeout=20, what="told")
    assert "ended" in viewer.script("return document.querySelector('#headline').textContent")


def test_a_hub_revokes_and_remembers(cast, tmp_path):
    state, secret = {"XDG_STATE_HOME": str(tmp_path / "state")}, tmp_path / "secret"
    secret.write_text("once-upon-a-midnight-dreary\n")
    secret.chmod(0o600)
    start = ("serve", "--listen", "127.0.0.1:0", "--token-file", str(secret), "--control")
    hub = cast(*start, env=state, stdin=subprocess.PIPE)
    event = hub.listening()
    made = link(event["url"], "--role", "call", "--name", "bob")
    once = link(event["url"], "--role", "call", "--uses", "1")

    async def work():
        async with await NativeClient.open(event["hub"]) as eve:
            await eve.say({"type": "register", "id": "eve", "token": made["token"]})
            assert (await eve.hear())["code"] == "link-for-other", "the link is bob's"
        async with await NativeClient.enter(event["hub"].removesuffix("/hub"), "first", token=once["token"]):
            async with await NativeClient.open(event["hub"]) as second:
                await second.say({"type": "register", "id": "second", "token": once["token"]})
                assert (await second.hear())["code"] == "link-used-up"
        async with await NativeClient.enter(event["hub"].removesuffix("/hub"), token=made["token"]) as bob:
            assert bob.name == "bob"
            hub.command("revoke", made["id"])
            assert (await bob.hear(type="error"))["code"] == "link-revoked"
            assert await bob.closing() == 1008
    asyncio.run(work())
    hub.wait_event("peer", where=lambda event: event["id"] == "bob" and event["state"] == "left")
    hub.stop()
    again = cast(*start, env=state).listening()

    async def later():
        for token, code in ((made["token"], "link-revoked"), (once["token"], "link-used-up")):
            async with await NativeClient.open(again["hub"]) as client:
                await client.say({"type": "register", "token": token})
                assert (await client.hear())["code"] == code
    asyncio.run(later())


def test_a_page_of_the_hub_whose_link_is_revoked_says_so(cast, visit):
    hub = cast("serve", "--listen", "127.0.0.1:0", "--token", "sesame-sesame", "--control", stdin=subprocess.PIPE)
    event = hub.listening()
    made = link(event["url"], "--role", "call")
    [page] = visit(made["link"], "alice")
    assert "token" not in page.script("return location.href")
    hub.command("revoke", made["link"])
    page.wait(hub="refused", error="link-revoked")
    assert "revoked" in page.script("return document.querySelector('#join-error').textContent")


def test_publishing_and_watching_by_links(cast, browser):
    hub = cast("serve", "--listen", "127.0.0.1:0", "--token", "sesame-sesame")
    event = hub.listening()
    publish = link(event["url"], "--role", "publish", "--name", "talk")
    watch = link(event["url"], "--role", "watch", "--stream", "talk")
    elsewhere = link(event["url"], "--role", "watch", "--stream", "other")
    publisher = cast(*CAST, "--to", publish["link"])
    told = publisher.wait_event("peer", where=lambda event: event["state"] == "published")
    assert publish["token"] not in json.dumps(told)
    assert parse_qs(urlsplit(watch["link"]).query) == {"stream": ["talk"]}
    Viewer(browser, watch["link"]).wait_live()
    seen = cast("watch", watch["link"], "--no-window")
    seen.wait_event("track")
    assert knock(event["whep"] + "/talk", elsewhere["token"]) == 403
    status, _, err = run("test", "--to", publish["link"].replace("/talk", "/other"))
    assert status == 77, err


def test_clocks_may_differ_by_minutes_and_hours_are_said(cast):
    if subprocess.run(["which", "faketime"], capture_output=True).returncode:
        pytest.skip("no faketime: install it")
    event = cast(*CAST).listening()
    for seconds in (-300, 300):
        made = at(seconds, "link", event["url"], "--role", "watch", "--expires", "1h")
        token = made.stdout.strip().split("#token=")[1]
        assert knock(event["whep"], token) == 400, seconds
    token = at(4 * 3600, "link", event["url"], "--role", "watch", "--expires", "1h").stdout.strip().split("#token=")[1]
    status, text, _ = ask(event["whep"], "POST", token, b"v=0", {"Content-Type": "application/sdp"})
    assert status == 401 and "clock" in text and "hours" in text, text
    token = at(-4 * 3600, "link", event["url"], "--role", "watch", "--expires", "1h").stdout.strip().split("#token=")[1]
    status, text, _ = ask(event["whep"], "POST", token, b"v=0", {"Content-Type": "application/sdp"})
    assert status == 401 and "3 hours ago" in text and "clock" in text, text


BAD = [
    (64, ["--expires", "yesterday"], "--expires"), (64, ["--expires", "0s"], "--expires"), (64, ["--expires", "-2h"], "--expires"),
    (64, ["--uses", "0"], "--uses"), (64, ["--uses", "many"], "--uses"), (64, ["--role", "rule"], "role"),
    (64, ["--role", "call", "--stream", "x"], "--stream"), (66, ["--token-file", "/"], "directory"), (64, ["--name", "a/b"], "--name"),
]


@pytest.mark.parametrize("status, arguments, word", BAD, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_links_that_cannot_be_are_refused_with_a_sentence(status, arguments, word):
    role = [] if "--role" in arguments else ["--role", "watch"]
    got, out, err = run("link", "http://127.0.0.1:1/", "--token", "sesame", *role, *arguments) if "--token-file" not in arguments else \
        run("link", "http://127.0.0.1:1/", *role, *arguments)
    assert got == status and out == "" and word in err, (got, out, err)


def test_who_has_only_a_signed_link_signs_no_other(cast):
    event = cast(*CAST).listening()
    made = link(event["url"], "--role", "watch", "--expires", "10m")
    status, _, err = run("link", made["link"], "--role", "watch", "--expires", "never")
    assert status == 77 and "cannot sign others" in err
    # The link by standard input stays out of the list of processes.
    assert link("-", "--role", "watch", stdin=(event["url"] + "\n").encode())["token"]


def test_a_secret_in_a_file_that_others_can_read_is_complained_about(cast, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("once-upon-a-midnight-dreary\n")
    for mode, warns in ((0o644, True), (0o600, False)):
        secret.chmod(mode)
        process = cast(*CAST, "--token-file", str(secret))
        assert process.listening()["token"] == "once-upon-a-midnight-dreary"
        process.stop()
        assert any("chmod 600" in line for line in process.stderr) is warns, process.stderr
    preset = tmp_path / "mine.json"
    preset.write_text(json.dumps({"token": "sealed-with-a-kiss"}))
    preset.chmod(0o600)
    assert cast(*CAST, "--preset", str(preset)).listening()["token"] == "sealed-with-a-kiss"


def test_no_secret_is_in_a_log(cast, browser):
    process = cast(*CAST, "-v", "-v", "-v")
    event = process.listening()
    made = link(event["url"], "--role", "watch")
    Viewer(browser, made["link"]).wait_live()
    ask(event["whep"] + "?token=" + event["token"], "POST", event["token"], b"v=0")
    process.stop()
    log = "".join(process.stderr)
    assert event["token"] not in log and made["token"] not in log and len(log) > 100


POLICY = ("default-src 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'", "base-uri 'none'")


def test_pages_run_nothing_but_their_own(cast, browser):
    cast_event = cast(*CAST).listening()
    hub_event = cast("serve", "--listen", "127.0.0.1:0", "--frame-ancestors", "https://intranet.example").listening()
    for url, ancestors in ((cast_event["url"], "'none'"), (hub_event["url"], "https://intranet.example")):
        _, page, headers = ask(url.split("#")[0])
        policy = headers["Content-Security-Policy"]
        assert "unsafe" not in policy and all(part in policy for part in POLICY) and f"frame-ancestors {ancestors}" in policy
        host = urlsplit(url).netloc
        assert f"connect-src 'self' ws://{host} wss://{host};" in policy
        assert policy.count("sha256-") == page.count("\n<script>") + page.count("\n<style>")
        assert headers["X-Content-Type-Options"] == "nosniff"
    viewer = Viewer(browser, cast_event["url"]).wait_live()
    assert viewer.script("""
        const script = document.createElement("script");
        try { script.textContent = "window.injected = true"; document.head.append(script); } catch (error) { return error.name; }
        return window.injected ?? "blocked";""") in ("TypeError", "blocked")
    assert viewer.script("try { document.body.innerHTML = '<b>'; } catch (error) { return error.name; }") == "TypeError"


def test_recordings_are_for_their_owner_and_follow_no_symbolic_link(cast, tmp_path):
    target = tmp_path / "copy.mkv"
    run(*CAST, "--duration", "2", "--record", str(target))
    assert target.stat().st_mode & 0o777 == 0o600
    (tmp_path / "victim").write_text("")
    (tmp_path / "trap.mkv").symlink_to(tmp_path / "victim")
    status, _, err = run(*CAST, "--duration", "2", "--record", str(tmp_path / "trap.mkv"))
    assert status == 77 and "symbolic link" in err, (status, err)


def test_a_plugin_by_name_is_never_taken_from_the_working_folder(tmp_path):
    (tmp_path / "waves").write_bytes(b"\x7fELF")
    done = subprocess.run([BINARY, "plugin", "waves"], cwd=tmp_path, capture_output=True, text=True, env=surroundings())
    assert done.returncode == 66 and "no plugin waves" in done.stderr, done.stderr


def test_state_is_kept_for_tests_apart(cast, tmp_path):
    """What `serve` keeps is not found in the home of whoever runs the tests; it would be, without the variable that the harness sets."""
    start, found = ("serve", "--listen", "127.0.0.1:0", "--tls"), {}
    for name, more in (("apart", {}), ("home", {"XDG_STATE_HOME": ""})):
        home = tmp_path / name
        home.mkdir()
        cast(*start, env={"HOME": str(home), **more}).listening()
        found[name] = [path.name for path in home.rglob("*") if path.is_file()]
    assert found["apart"] == [] and "serve-key.pem" in found["home"], found
    assert (Path(STATE) / "rtcast/serve-key.pem").is_file()
