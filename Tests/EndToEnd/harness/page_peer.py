"""A peer that is a bare page of a browser, with no program of ours in it: to try what a network lets through, and to compare with.

The caller shows a bar code that counts (`barcode` reads it), so that its picture is known on the other side."""

import json
import time

PAGE = r"""
window.peer = { candidates: [], state: "new", log: [] };
window.peer.open = (configuration) => {
  const pc = window.peer.pc = new RTCPeerConnection(configuration);
  pc.onicecandidate = ({ candidate }) => { window.peer.candidates.push(candidate ? candidate.toJSON() : null); };
  pc.onicecandidateerror = (error) => { window.peer.log.push(`${error.url}: ${error.errorCode} ${error.errorText}`); };
  pc.onconnectionstatechange = () => { window.peer.state = pc.connectionState; window.peer.log.push(pc.connectionState); };
  pc.ontrack = ({ track }) => {
    const video = document.createElement("video");
    video.muted = true; video.autoplay = true; video.srcObject = new MediaStream([track]);
    document.body.append(video);
  };
};
window.peer.show = () => {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  canvas.width = 640; canvas.height = 360;
  const crc8 = (bytes) => bytes.reduce((crc, byte) => {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = crc & 128 ? crc << 1 & 255 ^ 7 : crc << 1;
    return crc;
  }, 0);
  let number = 0;
  const draw = () => {
    number++;
    const bytes = [number >> 16 & 255, number >> 8 & 255, number & 255, 0, 0, 0, 0];
    bytes.push(crc8(bytes));
    pen.fillStyle = "#808080"; pen.fillRect(0, 0, 640, 360);
    for (let i = 0; i < 64; i++) {
      pen.fillStyle = bytes[i >> 3] >> (7 - i % 8) & 1 ? "#ffffff" : "#000000";
      pen.fillRect(16 + i % 32 * 16, 16 + (i >> 5) * 16, 16, 16);
    }
  };
  draw();
  setInterval(draw, 66);
  for (const track of canvas.captureStream(15).getTracks()) window.peer.pc.addTrack(track);
};
"""


class PagePeer:
    def __init__(self, driver, ice_servers=(), policy="all", shows=False):
        self.driver = driver
        self.taken = 0
        driver.get("about:blank")
        driver.execute_script(PAGE)
        driver.execute_script("window.peer.open(arguments[0])", {"iceServers": list(ice_servers), "iceTransportPolicy": policy})
        if shows:
            driver.execute_script("window.peer.show()")

    def _asynchronous(self, code, *arguments):
        value = self.driver.execute_async_script(
            f"const done = arguments[arguments.length - 1], pc = window.peer.pc, given = arguments[0];"
            f"(async () => {{ {code} }})().then(done, (error) => done({{ error: String(error) }}));", *arguments)
        assert not (isinstance(value, dict) and "error" in value), value
        return value

    def offer(self):
        return self._asynchronous("await pc.setLocalDescription(); return pc.localDescription.toJSON();")

    def answer(self, offer):
        return self._asynchronous("await pc.setRemoteDescription(given); await pc.setLocalDescription(); return pc.localDescription.toJSON();",
                                  offer)

    def accept(self, answer):
        self._asynchronous("await pc.setRemoteDescription(given);", answer)

    def give_candidates(self, other):
        """What has been gathered since the last time."""
        fresh = self.driver.execute_script("return window.peer.candidates.slice(arguments[0])", self.taken)
        self.taken += len(fresh)
        for candidate in fresh:
            if candidate:
                other._asynchronous("await pc.addIceCandidate(given);", candidate)

    def state(self):
        return self.driver.execute_script("return window.peer.state")

    def script(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def asynchronous(self, code, *arguments):
        return self.driver.execute_async_script(code, *arguments)

    def pair(self):
        """(type of the local candidate, of the remote, protocol to the relay) of the pair in use."""
        found = self._asynchronous(SELECTED)
        return tuple(found) if found else None

    def close(self):
        self.driver.get("about:blank")


SELECTED = """
const stats = [...(await pc.getStats()).values()], by = Object.fromEntries(stats.map((one) => [one.id, one]));
const transport = stats.find((one) => one.type === "transport" && one.selectedCandidatePairId);
const pair = transport ? by[transport.selectedCandidatePairId] : stats.find((one) => one.type === "candidate-pair" && one.selected);
if (!pair) return null;
const local = by[pair.localCandidateId], remote = by[pair.remoteCandidateId];
return [local.candidateType, remote.candidateType, local.relayProtocol ?? null];
"""


def connect(caller, callee, timeout=20):
    """Descriptions and candidates are carried until both are connected."""
    callee_answer = callee.answer(caller.offer())
    caller.accept(callee_answer)
    deadline = time.monotonic() + timeout
    while (states := (caller.state(), callee.state())) != ("connected", "connected"):
        caller.give_candidates(callee)
        callee.give_candidates(caller)
        assert time.monotonic() < deadline and "failed" not in states, \
            f"{states}: {json.dumps([peer.driver.execute_script('return window.peer.log') for peer in (caller, callee)])}"
        time.sleep(0.05)
