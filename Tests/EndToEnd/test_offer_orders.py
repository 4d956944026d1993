"""Viewers by WHEP that offer audio, video and a data channel in any order, with any bundle policy, to casts with and without sound."""

import itertools

import pytest

from harness.rtcast import bearer

POLICIES = ["balanced", "max-compat", "max-bundle"]
ORDERS = [",".join(order) for order in itertools.permutations(["audio", "video", "data"])] + ["audio,video", "video,audio", "video"]

# Resolves with the number of frames seen, or with what failed.
WATCH = """
    const [bundlePolicy, order, whep, headers, done] = arguments;
    (async () => {
      const pc = new RTCPeerConnection({ bundlePolicy });
      try {
        for (const kind of order.split(",")) {
          if (kind === "data") pc.createDataChannel("order");
          else pc.addTransceiver(kind, { direction: "recvonly" });
        }
        const shown = document.createElement("video");
        shown.muted = true;
        shown.autoplay = true;
        pc.ontrack = (event) => {
          if (event.track.kind === "video") shown.srcObject = new MediaStream([event.track]);
        };
        await pc.setLocalDescription();
        if (pc.iceGatheringState !== "complete") {
          await new Promise((resolve) => { pc.onicegatheringstatechange = () => pc.iceGatheringState === "complete" && resolve(); });
        }
        const reply = await fetch(whep, { method: "POST", body: pc.localDescription.sdp, headers: { "Content-Type": "application/sdp", ...headers } });
        if (reply.status !== 201) return `${reply.status}: ${await reply.text()}`;
        await pc.setRemoteDescription({ type: "answer", sdp: await reply.text() });
        const deadline = performance.now() + 15000;
        while (shown.videoWidth === 0 || shown.readyState < 2) {
          if (performance.now() > deadline) return `no picture; ${pc.connectionState}`;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        await fetch(new URL(reply.headers.get("Location"), whep), { method: "DELETE", headers });
        return `${shown.videoWidth}x${shown.videoHeight}`;
      } catch (error) {
        return String(error);
      } finally {
        pc.close();
      }
    })().then(done);"""


@pytest.mark.parametrize("sound", ["none", "tone"])
def test_each_order_and_policy_shows_the_picture(sound, cast, any_browser):
    tone = ["--tone", "440"] if sound == "tone" else []
    listening = cast("test", "--pattern", "clock", "--size", "320x180", *tone).listening()
    # Without the secret behind the #, the page itself watches nothing.
    any_browser.get(listening["url"].split("#")[0])
    seen = {(policy, order): any_browser.execute_async_script(WATCH, policy, order, listening["whep"], bearer(listening))
            for policy in POLICIES for order in ORDERS}
    assert {case: result for case, result in seen.items() if result != "320x180"} == {}
