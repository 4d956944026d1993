"""Links that several hubs share by a real Redis (docs/cluster.md): revoked at one hub, counted by all, and refused while nobody can count."""

import asyncio
import json
import subprocess
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import redis as redis_server
from harness.browser import Viewer
from harness.clusters import health, redis, ripen  # noqa: F401
from harness.processes import wait_for
from harness.redis import Redis
from harness.rtcast import run
from harness.signaling import NativeClient

pytestmark = pytest.mark.skipif(redis_server.missing() is not None, reason=redis_server.missing() or "")

TOKEN = "between-all-the-hubs-and-us"


def start(cast, redis, place, number):
    """A hub with a state folder of its own: the hubs of one machine would share the file of used links."""
    hub = cast("serve", "--listen", "127.0.0.1:0", "--token", TOKEN, "--cluster", redis.url, "--control",
               env={"XDG_STATE_HOME": str(place / f"state-{number}")}, stdin=subprocess.PIPE)
    hub.address = hub.url().partition("#")[0]
    return hub


@pytest.fixture
def hubs(cast, redis, tmp_path):  # noqa: F811
    started = [start(cast, redis, tmp_path, number) for number in range(2)]
    ripen(redis)
    return started


def link(hub, *arguments):
    status, out, err = run("link", hub.address, "--token", TOKEN, "--json", *arguments)
    assert status == 0, err
    return json.loads(out)


def look(hub, token, client):
    """The status and text of a request for a picture. Of a stream that is not there it is 404, and a use of the link."""
    headers = {"Authorization": f"Bearer {token}", "RTCast-Client": client}
    try:
        with urllib.request.urlopen(urllib.request.Request(hub.address + "snapshot/none", headers=headers), timeout=15) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


async def refusal(hub, name, token, secret=None):
    async with await NativeClient.open(hub.address + "hub") as client:
        await client.say({"type": "register", "id": name, "token": token, **({"secret": secret} if secret else {})})
        return (await client.hear(type="error"))["code"]


def test_a_link_revoked_at_one_hub_is_refused_at_all_and_its_sessions_end(hubs, cast, redis, browser, tmp_path):  # noqa: F811
    call, watch = link(hubs[0], "--role", "call", "--name", "bob"), link(hubs[0], "--role", "watch")
    publisher = cast("test", "--size", "320x180", "--to", hubs[1].address + "whip/desk", "--token", TOKEN)
    publisher.wait_event("peer", where=lambda event: event["state"] == "published")
    viewer = Viewer(browser, hubs[1].address + f"watch?stream=desk#token={watch['token']}").wait_live()

    async def work():
        async with await NativeClient.enter(hubs[1].address, token=call["token"]) as bob:
            for made in call, watch:
                hubs[0].command("revoke", made["id"])
            assert (await bob.hear(type="error"))["code"] == "link-revoked"
            assert await bob.closing() == 1008
        for hub in hubs:
            assert await refusal(hub, "bob", call["token"]) == "link-revoked"
    asyncio.run(work())
    viewer.until("rtcast.state === 'denied'", what="told")
    assert "revoked" in viewer.script("return document.querySelector('#headline').textContent")
    # A hub that joins later knows of it, too.
    late = start(cast, redis, tmp_path, 2)
    wait_for(lambda: look(late, watch["token"], "late-client-16-long")[0] == 401, "revocation at a new hub")


def test_a_link_is_used_as_often_as_it_may_in_all_hubs_together(hubs):
    made = link(hubs[0], "--role", "watch", "--uses", "5")["token"]
    clients = [f"client-{number:_>20}" for number in range(40)]
    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(lambda number: look(hubs[number % 2], made, clients[number])[0], range(40)))
    assert statuses.count(404) == 5 and statuses.count(401) == 35, statuses
    known = clients[statuses.index(404)]
    for hub in hubs:
        assert look(hub, made, known)[0] == 404, "a client that comes again is not another use"
        assert "used as often" in look(hub, made, "somebody-else-16-long")[1]

    once = link(hubs[0], "--role", "call", "--uses", "1")["token"]

    async def work():
        async with await NativeClient.enter(hubs[0].address, "alice", token=once, secret="secret-of-alice-16"):
            assert await refusal(hubs[1], "eve", once, "secret-of-eve-16-long") == "link-used-up"
            async with await NativeClient.enter(hubs[1].address, "alice", token=once, secret="secret-of-alice-16") as moved:
                assert moved.registered["resumed"]
        # A name that is not granted costs no use.
        twice = link(hubs[0], "--role", "call", "--uses", "1")["token"]
        async with await NativeClient.enter(hubs[0].address, "bob", token=TOKEN, secret="secret-of-bob-16-l"):
            assert await refusal(hubs[1], "bob", twice, "secret-of-eve-16-long") == "taken-name"
        async with await NativeClient.enter(hubs[1].address, "carol", token=twice):
            pass
    asyncio.run(work())


def test_wrong_tokens_at_all_hubs_count_together(hubs):
    def guess(hub):
        return look(hub, "a-wrong-token-of-a-thief", "client-16-letters")[0]

    for _ in range(40):
        if guess(hubs[0]) == 429:
            break
    assert guess(hubs[0]) == 429
    # Alone, the other hub would look at ten. The news may take a moment.
    tries = 0
    while guess(hubs[1]) != 429:
        tries += 1
        assert tries < 5, "the other hub does not know of the tries"
        time.sleep(0.3)
    assert look(hubs[1], TOKEN, "client-16-letters")[0] == 404


def test_without_redis_uses_are_refused_and_revocations_are_kept_and_written_later(cast, tmp_path):
    redis = Redis(keeps=True)  # noqa: F811
    try:
        hubs = [start(cast, redis, tmp_path, number) for number in range(2)]
        ripen(redis)
        limited, plain, revoked = (link(hubs[0], "--role", "watch", *more)["token"] for more in (["--uses", "2"], [], []))
        client, other = "client-16-letters", "other-16-letters-"
        hubs[0].command("revoke", revoked)
        wait_for(lambda: look(hubs[1], revoked, client)[0] == 401, "revocation")
        assert look(hubs[0], limited, client)[0] == 404
        redis.kill()
        for hub in hubs:
            wait_for(lambda: health(hub.address)["status"] == "degraded", "degraded hub")
            status, text = look(hub, limited, other)
            assert status == 503 and "cannot reach the others to count" in text, text
            assert look(hub, plain, client)[0] == 404, "a link without a limit needs no count"
            assert look(hub, revoked, client)[0] == 401
        hubs[0].command("revoke", plain)
        assert hubs[0].wait_event("control")["command"] == "revoke"
        wait_for(lambda: look(hubs[0], plain, client)[0] == 401, "revocation at the hub itself")
        assert look(hubs[1], plain, client)[0] == 404
        redis.start()
        wait_for(lambda: look(hubs[1], plain, client)[0] == 401, "revocation at the other hub")
        wait_for(lambda: look(hubs[1], limited, other)[0] == 404, "count")
        assert look(hubs[0], limited, "the-third-16-letters")[0] == 401
    finally:
        redis.stop()


def test_uses_and_revocations_survive_the_loss_of_all_data(hubs, redis):  # noqa: F811
    once, revoked = link(hubs[0], "--role", "watch", "--uses", "1")["token"], link(hubs[0], "--role", "watch")
    assert look(hubs[0], once, "client-16-letters")[0] == 404
    hubs[0].command("revoke", revoked["id"])
    wait_for(lambda: look(hubs[1], revoked["token"], "client-16-letters")[0] == 401, "revocation")
    redis.cli("flushall")
    # The use waits until the hubs have stated what they know.
    assert look(hubs[1], once, "other-16-letters-")[0] == 401
    assert redis.cli("zcard", "{rtcast}:revoked") == "1"
