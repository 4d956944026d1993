"""Sound: from a tone or the desktop to the viewer's ear, and the page's controls for it."""

import json
import re
import subprocess
import time

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from harness import sound
from harness.browser import Viewer
from harness.pulse import UNCONNECTED, PipeWireServer
from harness.reference import Reference
from harness.rtcast import bearer, run

CAST = ("test", "--pattern", "clock", "--fps", "10", "--size", "640x360")
LOOK = """
    const v = document.querySelector('video'), shown = (id) => document.getElementById(id).checkVisibility({ visibilityProperty: true });
    return { muted: v.muted, volume: v.volume, controls: shown('sound'), tap: shown('tap'), meter: document.documentElement.dataset.sound,
             tracks: v.srcObject.getTracks().map((t) => t.kind).sort(), paused: v.paused };"""


def look(viewer):
    return viewer.script(LOOK)


def stats(viewer):
    return viewer.asynchronous("window.rtcast.stats().then(arguments[0])")


def keys(viewer, *presses):
    viewer.select()
    ActionChains(viewer.driver).send_keys(*presses).perform()


@pytest.mark.feature("S4.2", peer="Chromium")
@pytest.mark.parametrize("tone", [440, 997])
def test_a_tone_is_heard_at_its_pitch(tone, cast, browser):
    viewer = Viewer(browser, cast(*CAST, "--tone", str(tone)).url()).wait_live()
    heard = sound.wait_tone(viewer, tone)
    assert abs(heard["hz"] / tone - 1) < 0.005 and heard["db"] > -40


@pytest.mark.quiet("gaps in the sound")
def test_a_tone_has_no_gaps(cast, ear):
    viewer = Viewer(ear, cast(*CAST, "--tone", "440").url()).wait_live()
    sound.wait_tone(viewer, 440)
    gaps = sound.gaps(viewer, 6)
    assert len(gaps) <= 1 and sum(gaps) < 40, gaps


def test_the_page_tells_figures_of_the_sound(cast, browser):
    viewer = Viewer(browser, cast(*CAST, "--tone", "440").url()).wait_live()
    sound.wait_tone(viewer, 440)
    figures = stats(viewer)["audio"]
    assert figures["codec"] == "opus" and figures["packets"] > 10 and figures["packetsLost"] == 0
    assert 0.01 < figures["level"] <= 1 and figures["concealed"] >= 0 and figures["muted"] is False
    viewer.until("(window.rtcast.stats().then((s) => window.buffer = s.audio.jitterBufferMs), window.buffer)", what="a jitter buffer")
    assert 0 < viewer.script("return window.buffer") < 300


def test_how_loud_the_sound_is_comes_with_it(cast, browser):
    viewer = Viewer(browser, cast(*CAST, "--tone", "440").url()).wait_live()
    sound.wait_tone(viewer, 440)
    level = viewer.script("""
        const receiver = window.rtcast.pc.getReceivers().find((r) => r.track.kind === 'audio');
        return receiver.getSynchronizationSources()[0].audioLevel;""")
    # A sine of a quarter of the height, in whole decibels: -15 dBov.
    assert 0.15 < level < 0.21, level


def test_a_cast_without_sound_shows_no_volume_control(cast, browser):
    viewer = Viewer(browser, cast(*CAST).url()).wait_live()
    time.sleep(1)
    seen = look(viewer)
    assert not seen["controls"] and not seen["tap"] and seen["tracks"] == ["video"]
    assert "audio" not in stats(viewer) or stats(viewer)["audio"] is None
    keys(viewer, "m")
    assert look(viewer)["muted"]


def test_volume_by_key_and_slider_is_kept_over_reconnecting_and_reloading(cast, browser):
    url = cast(*CAST, "--tone", "440").url()
    viewer = Viewer(browser, url).wait_live()
    viewer.until("document.documentElement.dataset.sound == 'with'", what="controls for the sound")
    viewer.script("localStorage.clear(); location.reload()")
    viewer.wait_live().until("document.documentElement.dataset.sound == 'with'")
    seen = look(viewer)
    assert seen["controls"] and not seen["tap"] and not seen["muted"] and seen["volume"] == 1
    keys(viewer, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert look(viewer)["volume"] == pytest.approx(0.85)
    keys(viewer, "m")
    assert look(viewer)["muted"]
    keys(viewer, "m")
    assert not look(viewer)["muted"]
    slider = viewer.driver.find_element("id", "volume")
    ActionChains(viewer.driver).move_to_element(slider).click().perform()
    assert look(viewer)["volume"] == pytest.approx(0.5, abs=0.06)
    keys(viewer, "s")
    assert viewer.script("return !document.getElementById('stats').hidden"), "keys work while the slider has the focus"
    volume = look(viewer)["volume"]
    viewer.script("window.before = rtcast.pc")
    keys(viewer, "r")
    viewer.until("rtcast.pc !== window.before && rtcast.state == 'live'")
    assert look(viewer)["volume"] == volume and not look(viewer)["muted"]
    viewer.script("location.reload()")
    viewer.wait_live().until("document.documentElement.dataset.sound == 'with'")
    assert look(viewer)["volume"] == volume
    viewer.script("localStorage.clear()")


def test_where_the_browser_insists_the_cast_starts_muted_and_one_tap_brings_the_sound(cast, cautious_browser):
    viewer = Viewer(cautious_browser, cast(*CAST, "--tone", "440").url()).wait_live()
    viewer.until("document.documentElement.dataset.sound == 'with'")
    seen = look(viewer)
    assert seen["muted"] and seen["tap"] and not seen["paused"]
    viewer.driver.find_element("id", "tap").click()
    viewer.until("!document.querySelector('video').muted && !document.querySelector('video').paused", 2)
    assert not look(viewer)["tap"]


@pytest.mark.parametrize("rejected", [(), ("--inactive",)])
def test_sound_without_pictures_is_shown_as_a_level(rejected, browser):
    """What the page does when the answer has sound only, whoever sends it."""
    with Reference("--kinds", "audio", *rejected) as reference:
        viewer = Viewer(browser, reference.url)
        viewer.until("window.rtcast && window.rtcast.state == 'live'", what="a cast of sound alone is live")
        assert look(viewer)["meter"] == "only"
        drawn = """(() => { const c = document.getElementById('meter'), p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
                     let n = 0; for (let i = 3; i < p.length; i += 4) n += p[i] > 60; return n / (p.length / 4); })()"""
        viewer.until(drawn + " > 0.02", what="a level that is drawn")


@pytest.mark.parametrize("rejected", [(), ("--inactive",)])
def test_pictures_without_sound_are_as_they_were(rejected, browser):
    with Reference("--kinds", "video", *rejected) as reference:
        viewer = Viewer(browser, reference.url).wait_live()
        assert look(viewer) == {"muted": True, "volume": 1, "controls": False, "tap": False, "meter": None, "tracks": ["video"], "paused": False}


@pytest.mark.alone("the time between picture and sound")
@pytest.mark.parametrize("late", [0, 100])
def test_the_measure_of_what_is_early_or_late_can_be_trusted(late, ear):
    """By a sender of known offset; see `sound.OFFSETS`."""
    with Reference("--flash", "--beep-late", str(late)) as reference:
        viewer = Viewer(ear, reference.url).wait_live()
        found, browsers_own = sound.settled_offset(viewer)
        assert abs(found - (browsers_own - late)) < 25, (found, browsers_own)


DESKTOP = (*CAST, "--audio", "desktop")


def test_what_the_desktop_plays_is_heard(cast, sound_server, browser):
    sound_server.play(523)
    viewer = Viewer(browser, cast(*DESKTOP, env=sound_server.env).url()).wait_live()
    sound.wait_tone(viewer, 523)


def test_one_program_is_heard_and_no_other(cast, sound_server, browser):
    sound_server.play(880, program="noise")
    rtcast = cast(*CAST, "--audio", "app:song", env=sound_server.env)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    song = sound_server.play(523, program="Song")
    sound.wait_tone(viewer, 523)
    _, out, _ = run("list", "audio", "--json", env=sound_server.env)
    programs = [device["name"] for device in json.loads(out)["audio"] if device["kind"] == "program"]
    assert {"app:Song", "app:noise"} <= set(programs)
    # When it ends, nothing takes its place: neither another program nor a microphone.
    sound_server.add_sink("room")
    sound_server.add_microphone("headset", hears="room")
    sound_server.play(698, sink="room", program="speech")
    song.kill()
    sound.wait_silence(viewer)


@pytest.mark.parametrize("sound_server", [PipeWireServer], ids=["pipewire"], indirect=True)
def test_a_program_whose_sound_has_no_output_at_first_is_heard_when_it_has_one(cast, sound_server, browser):
    """PipeWire makes the stream before its output is chosen; on a busy machine that shows. It need not tell of the output."""
    rtcast = cast(*CAST, "--audio", "app:song", env=sound_server.env)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    sound_server.play(523, program="Song", options=UNCONNECTED)
    while not any("Sound comes from Song" in line for line in rtcast.stderr):
        rtcast.wait_event("stats")
    sound_server.connect("Song", "desktop")
    sound.wait_tone(viewer, 523)


def test_a_sink_that_is_removed_and_replaced_is_heard_again(cast, sound_server, browser):
    sound_server.play(523)
    viewer = Viewer(browser, cast(*DESKTOP, env=sound_server.env).url()).wait_live()
    sound.wait_tone(viewer, 523)
    sound_server.remove_sink("desktop")
    # PipeWire lets it play on to an output of its own making, which is followed.
    sound_server.stop_playing()
    sound.wait_silence(viewer)
    sound_server.add_sink("replacement", rate=44100)
    sound_server.play(659)
    sound.wait_tone(viewer, 659)


def test_the_default_sink_is_followed(cast, sound_server, browser):
    viewer = Viewer(browser, cast(*DESKTOP, env=sound_server.env).url()).wait_live()
    sound_server.add_sink("headphones", rate=96000)
    sound_server.play(880, sink="headphones")
    sound.wait_tone(viewer, 880)


def test_a_sound_server_that_dies_and_comes_back_is_heard_again(cast, sound_server, browser):
    sound_server.play(523)
    viewer = Viewer(browser, cast(*DESKTOP, env=sound_server.env).url()).wait_live()
    sound.wait_tone(viewer, 523)
    sound_server.kill()
    sound.wait_silence(viewer)
    before = viewer.frames()
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 5}", what="pictures go on")
    sound_server.start()
    sound_server.add_sink("again")
    sound_server.play(587)
    sound.wait_tone(viewer, 587, timeout=30)


def test_a_microphone_is_heard_by_its_name(cast, sound_server, browser):
    sound_server.add_sink("room")
    sound_server.add_microphone("headset", hears="room")
    sound_server.play(698, sink="room")
    viewer = Viewer(browser, cast(*CAST, "--audio", "headset", env=sound_server.env).url()).wait_live()
    sound.wait_tone(viewer, 698)


def test_what_is_watched_is_played_wherever_the_default_output_is(cast, sound_server):
    url = cast(*CAST, "--tone", "440").url()
    cast("watch", url, "--no-window", env=sound_server.env)
    sound_server.wait_pitch(440, "desktop")
    sound_server.add_sink("headphones", rate=44100)
    sound_server.wait_pitch(440, "headphones")
    sound_server.remove_sink("headphones")
    sound_server.set_default("desktop")
    sound_server.wait_pitch(440, "desktop")


def test_a_pause_of_a_file_silences_the_desktop_beside_it(cast, pulse, clips, browser):
    pulse.play(523)
    path = clips.numbered("numbered-vp8.webm", codec="vp8", sound="opus")
    rtcast = cast("file", path, "--loop", "--audio", "desktop", "--control", env=pulse.env, stdin=subprocess.PIPE)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    sound.wait_tone(viewer, 523)
    rtcast.command("pause")
    sound.wait_silence(viewer)
    rtcast.command("resume")
    sound.wait_tone(viewer, 523)


def test_no_sound_server_is_said_in_one_sentence(tmp_path):
    code, out, err = run(*DESKTOP, "--duration", "3", env={"PULSE_SERVER": f"unix:{tmp_path}/none", "XDG_RUNTIME_DIR": str(tmp_path)})
    assert code == 69 and "No sound server answers" in err and len(err.strip().splitlines()) == 1, (code, err)


def test_a_device_that_is_not_there_is_named(pulse):
    code, out, err = run(*CAST, "--audio", "no-such-device", "--duration", "3", env=pulse.env)
    assert code == 66 and "no-such-device" in err, (code, err)


LISTEN = """
    const [wishes, headers, done] = arguments;
    (async () => {
      const pc = new RTCPeerConnection();
      (window.listeners ||= []).push(pc);
      for (const kind of ['audio', 'video']) pc.addTransceiver(kind, { direction: 'recvonly' });
      const offer = await pc.createOffer();
      const gathered = new Promise((resolve) => { pc.onicegatheringstatechange = () => pc.iceGatheringState === 'complete' && resolve(); });
      await pc.setLocalDescription(offer);
      await gathered;
      const body = pc.localDescription.sdp.replace(/a=fmtp:\\d+ minptime=10[^\\r]*/, '$&' + wishes);
      const reply = await fetch('/whep', { method: 'POST', headers: { 'Content-Type': 'application/sdp', ...headers }, body });
      await pc.setRemoteDescription({ type: 'answer', sdp: await reply.text() });
    })().then(() => done(null), (error) => done(String(error)));"""

HEARD = """
    const [index, done] = arguments;
    window.listeners[index].getStats().then((report) => {
      const entry = [...report.values()].find((s) => s.type === 'inbound-rtp' && s.kind === 'audio');
      done(entry ? [entry.bytesReceived, entry.timestamp] : [0, performance.now()]);
    });"""


def wait_rate(browser, index, fits, timeout=25):
    """Waits until two seconds of sound came at a rate that fits, in bits a second without headers."""
    deadline = time.monotonic() + timeout
    rate = None
    while time.monotonic() < deadline:
        first = browser.execute_async_script(HEARD, index)
        time.sleep(2)
        second = browser.execute_async_script(HEARD, index)
        rate = (second[0] - first[0]) * 8000 / max(1, second[1] - first[1])
        if rate > 0 and fits(rate):
            return
    raise AssertionError(f"sound at {rate} bit/s")


@pytest.mark.quiet("rates of the sound")
def test_the_encoder_follows_the_most_demanding_listener(cast, browser):
    listening = cast(*CAST, "--tone", "440").listening()
    browser.get(listening["whep"] + "/nothing")   # the same origin, and no viewer of its own
    assert browser.execute_async_script(LISTEN, ";maxaveragebitrate=12000;stereo=0", bearer(listening)) is None
    wait_rate(browser, 0, lambda rate: rate < 20_000)
    assert browser.execute_async_script(LISTEN, "", bearer(listening)) is None
    wait_rate(browser, 0, lambda rate: rate > 30_000)
    browser.execute_script("window.listeners.pop().close()")
    wait_rate(browser, 0, lambda rate: rate < 20_000)
