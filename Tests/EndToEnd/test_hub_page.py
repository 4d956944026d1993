"""The hub's page in real browsers: they find each other by `rtcast serve` and call each other."""

import os
import re
import subprocess
import unicodedata
from urllib.parse import urlsplit

import pytest

from harness.browser import chromium
from harness.firefox import Firefox
from harness.hub_page import HubPage

# How a test without hands shares a screen: the question is about the page's own tab, and the browser says yes.
SHARE_THIS_TAB = "LocalMedia.displayWishes = { preferCurrentTab: true, selfBrowserSurface: 'include' }"


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


@pytest.fixture
def firefox():
    browser = Firefox()
    yield browser
    browser.quit()


def in_call(caller, callee):
    caller.call(callee.name)
    callee.accept()
    for person in (caller, callee):
        person.wait(state="call").wait_tiles(1).wait_moving()


@pytest.mark.quick
@pytest.mark.feature("S1.2", "S1.15", "S3.7", peer="Chromium")
def test_two_browsers_call_see_mute_write_and_hang_up(hub, visit):
    """Ring, both pictures and one's own in the corner; chat; mute; the end."""
    alice, bob = visit(hub, "alice", "bob")
    alice.call("bob")
    alice.wait(state="calling", sounding="ringback")
    bob.wait(state="ringing", sounding="ring")
    assert bob.script("return document.querySelector('#incoming').dataset.peer") == "alice"
    bob.click("#accept")
    for person in (alice, bob):
        person.wait(state="call", sounding="").wait_tiles(1, "[data-kind=camera][data-state=live]").wait_moving()
        assert person.data()["preview"] == "camera"
        assert person.script("return document.querySelector('#corner video').videoWidth > 0")
    alice.until("document.querySelector('.tile[data-quality]')", what="figures of the connection")

    alice.say("Are you there?")
    bob.wait(unread="1")
    bob.say("Right here: <b>really</b>")
    bob.wait_words("alice", "Are you there?")
    alice.wait_words("bob", "Right here: <b>really</b>")

    bob.bar("microphone")
    alice.wait_tiles(1, "[data-audio-muted=true][data-video-muted=false]")
    bob.bar("camera")
    alice.wait_tiles(1, "[data-audio-muted=true][data-video-muted=true]")
    bob.bar("camera")
    bob.bar("microphone")
    alice.wait_tiles(1, "[data-audio-muted=false][data-video-muted=false]")

    bob.bar("hangup")
    alice.wait(state="lobby", lastEnd="hung-up")
    bob.wait(state="lobby")


@pytest.mark.feature("S3.3", peer="Chromium")
def test_a_call_is_rejected_or_taken_back(hub, visit):
    alice, bob = visit(hub, "alice", "bob")
    alice.call("bob")
    bob.wait(state="ringing")
    bob.click("#reject")
    alice.wait(state="lobby", lastEnd="rejected")
    bob.wait(state="lobby")
    alice.call("bob")
    bob.wait(state="ringing")
    alice.bar("hangup")
    bob.wait(state="lobby", lastEnd="cancelled")
    alice.type("#whom", "nobody")
    alice.click("#by-name button")
    alice.wait(state="lobby", lastEnd="unknown-peer")


@pytest.mark.feature("S0.8", "S1.2", peer="Chromium")
def test_everybody_who_can_be_called_is_listed_an_rtcast_that_only_has_a_name_too(cast, hub, visit):
    """Who comes and goes is followed, and found anew when the hub was away."""
    waiting = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", "--test", "--audio", "none")
    waiting.wait_event("registered")
    [alice] = visit(hub, "alice")
    alice.until("document.querySelector('#people [data-peer=bob]')")
    in_room = cast("test", "--to", "room:den", "--server", hub, "--name", "carol", "--no-window")
    alice.until("document.querySelector('#people [data-peer=carol]')", what="carol, who is in a room")
    in_room.interrupt()
    alice.until("!document.querySelector('#people [data-peer=carol]')", what="carol gone")
    alice.call("bob")
    alice.wait(state="call").wait_tiles(1).wait_moving()
    alice.bar("hangup")
    alice.wait(state="lobby")
    alice.script("line.socket.close()")   # as a network that breaks
    alice.wait(hub="lost")
    waiting.interrupt()
    waiting.wait()
    alice.wait(hub="online")
    alice.until("!document.querySelector('#people [data-peer=bob]')", what="bob gone while the line was down")


@pytest.mark.feature("S3.9", "S3.41", peer="Chromium")
def test_the_screen_of_an_rtcast_has_the_room_and_its_camera_a_camera_s(cast, hub, visit):
    """What each picture is comes with the descriptions, and alone when another takes its place in the middle of the call."""
    alice, carol = visit(hub + "#den", "alice", "carol")
    bob = cast("test", "--pattern", "bars", "--to", "room:den", "--server", hub, "--name", "bob", "--no-window", "--control",
               stdin=subprocess.PIPE)
    for person in (alice, carol):
        person.wait_tiles(2).wait_tiles(1, "[data-peer=bob][data-kind=screen]").wait_moving()
    width = "document.querySelector('.tile[data-peer=%s]').clientWidth"
    alice.until("document.documentElement.dataset.layout === 'side'")
    assert alice.script(f"return {width % 'bob'}") > 2 * alice.script(f"return {width % 'carol'}")
    picture = os.environ.get("RTCAST_PICTURES")
    if picture:
        alice.driver.save_screenshot(f"{picture}/hub-screen-of-rtcast.png")
    bob.command("source", "test", "--pattern", "noise")   # noise passes for a camera
    for person in (alice, carol):
        person.wait_tiles(1, "[data-peer=bob][data-kind=camera]").wait_moving()
    alice.until("document.documentElement.dataset.layout === 'grid'")
    bob.command("source", "test", "--pattern", "scroll-text")
    alice.wait_tiles(1, "[data-peer=bob][data-kind=screen]")


def test_an_rtcast_is_told_which_picture_is_a_screen(cast, hub, visit):
    [alice] = visit(hub, "alice")
    bob = cast("call", "alice", "--server", hub, "--name", "bob", "--no-window", "--audio", "none")
    alice.accept()
    camera = bob.wait_event("track", where=lambda e: e["kind"] == "video")
    assert camera["content"] == "camera"
    alice.wait(state="call").script(SHARE_THIS_TAB)
    alice.bar("screen")
    assert bob.wait_event("track", where=lambda e: e["kind"] == "video")["content"] == "screen"


def test_who_is_in_a_call_is_busy(hub, visit):
    alice, bob, carol = visit(hub, "alice", "bob", "carol")
    in_call(alice, bob)
    carol.call("bob")
    carol.wait(state="lobby", lastEnd="busy")
    bob.wait(state="call", lastEnd="was-busy")
    bob.wait_moving()


def test_both_calling_at_the_same_moment_is_one_call(hub, visit):
    alice, bob = visit(hub, "alice", "bob")
    # Neither page hears of the other's call before both have called, however slow the machine is.
    for person in (alice, bob):
        person.script("window.held = []; window.deliver = board.line.onmessage; board.line.onmessage = (message) => held.push(message)")
    for person, other in ((alice, "bob"), (bob, "alice")):
        person.call(other)
        person.wait(state="calling")
    for person in (alice, bob):
        person.until("held.some(({ data }) => data?.type === 'call')")
    for person in (alice, bob):
        person.script("board.line.onmessage = deliver; held.splice(0).forEach(deliver)")
    for person in (alice, bob):
        person.wait(state="call", calls="1").wait_tiles(1).wait_moving()


@pytest.mark.feature("S3.8", "S3.10", "S3.17", "S3.18", "S3.34", "S3.48", peer="Chromium")
def test_a_room_is_a_call_with_everybody_in_it(hub, visit):
    """The newcomer calls all, by the address alone; leaving is seen by the rest. The page shows a grid."""
    alice, bob, carol = visit(hub + "#den", "alice", "bob", "carol")
    for person in (alice, bob, carol):
        person.wait(state="room", room="den").wait_tiles(2).wait_moving()
    alice.say("All of you?")
    for person in (bob, carol):
        person.wait_words("alice", "All of you?")
    bob.bar("hangup")
    bob.wait(state="lobby")
    for person in (alice, carol):
        person.wait_gone("bob")
        person.wait_tiles(1).wait_moving()
    carol.driver.get("about:blank")
    alice.wait_gone("carol")
    alice.wait(state="room", calls="0")


def test_a_call_goes_on_while_the_hub_is_away(cast, visit):
    first = cast("serve", "--listen", "127.0.0.1:0")
    url = first.url()
    alice, bob = visit(url, "alice", "bob")
    in_call(alice, bob)
    first.stop()
    for person in (alice, bob):
        person.wait(hub="lost", state="call")
    alice.say("Still here")
    bob.wait_words("alice", "Still here")
    bob.bar("microphone")   # said to alice once there is a hub again
    second = cast("serve", "--listen", f"127.0.0.1:{urlsplit(url).port}")
    second.url()
    for person in (alice, bob):
        person.wait(hub="online", state="call").wait_moving()
    alice.wait_tiles(1, "[data-audio-muted=true]")
    alice.bar("hangup")
    bob.wait(state="lobby")


def test_a_screen_comes_and_goes_during_a_call(hub, visit):
    """One tile for each picture: the camera stays while the screen is there. Both may begin at once."""
    alice, bob = visit(hub, "alice", "bob")
    in_call(alice, bob)
    for person in (alice, bob):
        person.script(SHARE_THIS_TAB)
        person.bar("screen")
    for person in (alice, bob):
        person.wait(screen="on").wait_tiles(2)
        kinds = sorted(tile["kind"] for tile in person.tiles())
        assert kinds == ["camera", "screen"]
        assert person.script("return local.tracks.screen.contentHint") == "text"
    alice.bar("screen")
    bob.wait_tiles(0, "[data-kind=screen]").wait_tiles(1).wait_moving()
    assert alice.data()["screen"] == "off"
    alice.wait_tiles(1, "[data-kind=screen]")


def test_a_wrong_token_is_asked_for_again(cast, visit):
    url = cast("serve", "--listen", "127.0.0.1:0", "--token", "s3cret").url()
    assert "token=s3cret" in url
    [alice] = visit(url.replace("s3cret", "wrong"), "alice", join=False)
    alice.click("#join")
    alice.wait(hub="refused", error="bad-token")
    assert alice.script("return document.activeElement.id") == "token"
    alice.type("#token", url)   # people paste the whole link
    alice.join()
    [bob] = visit(url, "bob")
    alice.until("document.querySelector('#people [data-peer=bob]')")
    bob.type("#room", "den")
    bob.click("#by-room button")
    bob.wait(state="room", room="den")
    assert "token=s3cret" in bob.script("return document.querySelector('#alone-link').value")
    bob.bar("hangup")
    bob.wait(state="lobby")
    assert bob.script("return document.querySelector('#room').value") == "den", "the way back"


def test_a_name_that_is_taken_is_not_given_twice(hub, visit):
    visit(hub, "alice")
    [other] = visit(hub, "alice", join=False)
    other.click("#join")
    other.wait(hub="refused", error="taken-name")
    other.type("#name", "alicia")
    other.join().wait(state="lobby", name="alicia")


@pytest.mark.feature("S1.16", "S1.20", "S3.15", "S3.38", peer="Chromium")
def test_without_camera_and_microphone_one_watches(hub, visit, browser):
    """Nothing to send is no reason to stay away."""
    carol = HubPage(browser, hub, "carol")
    carol.join()
    assert "camera:NotFoundError" in carol.data()["mediaFault"]
    assert "Not found" in carol.script("return document.querySelector('#media-fault').textContent")
    [alice] = visit(hub, "alice")
    carol.call("alice")
    alice.accept()
    carol.wait(state="call").wait_tiles(1).wait_moving()
    alice.wait_tiles(1, "[data-state=face][data-link=connected]")


@pytest.fixture
def forbidding_browser():
    """There are a camera and a microphone, and its settings block both for every page: nobody is asked."""
    blocked = 2
    browser = chromium(flags=["--use-fake-device-for-media-stream"], settings={
        f"profile.default_content_setting_values.media_stream_{device}": blocked for device in ("camera", "mic")})
    yield browser
    browser.quit()


@pytest.mark.feature("S1.20", peer="Chromium")
def test_a_camera_and_a_microphone_that_are_refused_are_said_and_no_obstacle(hub, visit, forbidding_browser):
    carol = HubPage(forbidding_browser, hub, "carol")
    carol.join()
    assert sorted(carol.data()["mediaFault"].split()) == ["camera:NotAllowedError", "microphone:NotAllowedError"]
    said = carol.script("return [document.querySelector('#media-fault').hidden, document.querySelector('#media-fault').textContent]")
    assert said[0] is False and re.match("Not allowed here: (microphone and camera|camera and microphone). Allow it by the sign", said[1]), said
    [alice] = visit(hub, "alice")
    carol.call("alice")
    alice.accept()
    carol.wait(state="call").wait_tiles(1).wait_moving()
    alice.wait_tiles(1, "[data-state=face][data-link=connected]")


def test_firefox_and_chromium_call_each_other(hub, visit, firefox):
    bob = HubPage(firefox, hub, "bob")
    bob.join()
    [alice] = visit(hub, "alice")
    in_call(alice, bob)
    bob.say("From the fox")
    alice.wait_words("bob", "From the fox")
    alice.script(SHARE_THIS_TAB)
    alice.bar("screen")
    bob.wait_tiles(2).wait_tiles(1, "[data-kind=screen]")
    alice.bar("screen")
    bob.wait_tiles(1)
    alice.bar("hangup")
    bob.wait(state="lobby", lastEnd="hung-up")
    in_call(bob, alice)


@pytest.mark.parametrize("room", ["c#", "a/b", "Was?", "50% & more"])
def test_a_room_may_have_any_name(room, hub, visit):
    """Typed by one, and by the other taken from the address as the first one's page writes it."""
    [alice] = visit(hub, "alice")
    alice.type("#room", room)
    alice.click("#by-room button")
    alice.wait(state="room", room=room)
    [bob] = visit(alice.script("return document.querySelector('#alone-link').value"), "bob")
    for person in (alice, bob):
        person.wait(state="room", room=room).wait_tiles(1).wait_moving()


def test_a_room_that_cannot_be_is_said_and_the_person_stays(hub, visit):
    """No other name is marked, and the address holds nothing that would end the same way again."""
    [alice] = visit(hub + "#" + "x" * 65, "alice")
    alice.wait(state="lobby", hub="online", notice="bad-room")
    assert "room" in alice.script("return document.querySelector('#toast-text').textContent")
    assert not alice.script("return document.querySelector('#name').hasAttribute('aria-invalid')")
    assert alice.script("return location.hash") == ""


def test_a_peer_whose_name_nobody_can_have_is_not_here(hub, visit):
    [alice] = visit(hub, "alice")
    alice.type("#whom", "a/b")
    alice.click("#by-name button")
    alice.wait(lastEnd="unknown-peer", state="lobby", hub="online")


@pytest.mark.parametrize("name", ["Zoë", "می‌خواهم", "👩‍👩‍👧", "東京特許許可局許可局長今日急遽休暇許可拒否の件について"])
def test_names_are_what_people_write(name, hub, visit):
    """One spelling for each name: with accents as characters of their own too. Joiners of letters and emoji; as many characters of any script."""
    alice, bob = visit(hub, "alice", "bob")
    for person, spelling in ((alice, name), (bob, unicodedata.normalize("NFD", name))):
        person.type("#room", spelling)
        person.click("#by-room button")
    for person in (alice, bob):
        person.wait(state="room", room=unicodedata.normalize("NFC", name)).wait_tiles(1).wait_moving()
