"""What the page hears: pitch and loudness of the received track, and how far picture and sound are apart.

The track is tapped by WebAudio beside the page's own element, so volume and mute of the page do not change what is measured here.
"""

import statistics
import subprocess

import numpy as np

EAR = r"""
window.ear ??= (() => {
  let context, tapped, analyser;
  const track = () => rtcast.pc?.getReceivers().map((r) => r.track).find((t) => t?.kind === "audio" && t.readyState === "live");
  const open = () => {
    const now = track();
    if (!now) return null;
    context ??= new AudioContext({ sampleRate: 48000, latencyHint: "interactive" });
    if (tapped !== now) {
      analyser = new AnalyserNode(context, { fftSize: 16384, smoothingTimeConstant: 0 });
      context.createMediaStreamSource(new MediaStream([now])).connect(analyser);
      tapped = now;
    }
    context.resume();
    return analyser;
  };
  /// The strongest frequency of the last third of a second, to a fraction of a bin by a parabola through its neighbours, and the level
  /// in dB relative to a full-scale square wave.
  const listen = () => {
    const node = open();
    if (!node || context.state !== "running") return null;
    const bins = new Float32Array(node.frequencyBinCount), wave = new Float32Array(node.fftSize);
    node.getFloatFrequencyData(bins);
    node.getFloatTimeDomainData(wave);
    let top = 2;
    for (let i = 2; i < bins.length - 1; i++) if (bins[i] > bins[top]) top = i;
    const [a, b, c] = [bins[top - 1], bins[top], bins[top + 1]];
    const shift = Number.isFinite(a + b + c) && a - 2 * b + c !== 0 ? (a - c) / (2 * (a - 2 * b + c)) : 0;
    const power = wave.reduce((sum, value) => sum + value * value, 0) / wave.length;
    // The share of the power that lies within three bins of the top: 1 for a pure tone.
    let all = 0, near = 0;
    for (let i = 2; i < bins.length; i++) {
      const value = 10 ** (bins[i] / 10);
      if (!Number.isFinite(value)) continue;
      all += value;
      if (Math.abs(i - top) <= 3) near += value;
    }
    return { hz: (top + shift) * context.sampleRate / node.fftSize, db: 10 * Math.log10(Math.max(power, 1e-12)), purity: all ? near / all : 0 };
  };
  return { open, listen, get context() { return context; } };
})();
"""


def listen(viewer):
    """{hz, db, purity} of the last third of a second; None while nothing can be heard."""
    return viewer.script(EAR + "return window.ear.listen()")


def wait_tone(viewer, hz, timeout=15, tolerance=0.02, decibels=(-60, 20)):
    """Waits for a tone of that pitch and loudness, and returns it."""
    viewer.script(EAR + "window.ear.open()")
    return viewer.until(
        "((heard) => heard && heard.db > %r && heard.db < %r && heard.purity > 0.8 && Math.abs(heard.hz / %r - 1) < %r ? heard : null)"
        "(window.ear ? window.ear.listen() : null)" % (*decibels, hz, tolerance), timeout, f"a tone of {hz} Hz")


def wait_silence(viewer, timeout=15):
    viewer.script(EAR + "window.ear.open()")
    return viewer.until("((heard) => heard && heard.db < -70)(window.ear.listen())", timeout, "silence")


# The page's policy allows no scripts from elsewhere, a worklet's included: only possible with the policy bypassed (see `prepare`).
WORKLETS = r"""
registerProcessor("onsets", class extends AudioWorkletProcessor {
  // A beep starts where, after 200 ms of quiet, a sample passes a tenth of full scale.
  constructor() { super(); this.quiet = 0; }
  process([[input]]) {
    this.port.postMessage({ clock: currentTime, date: Date.now() });
    for (let i = 0; input && i < input.length; i++) {
      if (Math.abs(input[i]) < 0.05) this.quiet++;
      else if (Math.abs(input[i]) > 0.1) {
        if (this.quiet > 9600) this.port.postMessage({ onset: (currentFrame + i) / sampleRate });
        this.quiet = 0;
      }
    }
    return true;
  }
});
registerProcessor("gaps", class extends AudioWorkletProcessor {
  // Quiet longer than 3 ms within sound, after the half second in which the track's own buffer settles.
  constructor() { super(); this.quiet = 0; this.heard = false; this.from = currentTime + 0.5; }
  process([[input]]) {
    for (let i = 0; input && i < input.length; i++) {
      if (Math.abs(input[i]) < 0.003) this.quiet++;
      else {
        if (this.heard && this.quiet > 144) this.port.postMessage({ gap: this.quiet / 48, at: currentTime });
        this.quiet = 0;
        this.heard = currentTime > this.from;
      }
    }
    return true;
  }
});
"""


def prepare(driver, on=True):
    """To be called before the page is opened by whoever uses `offsets` or `gaps`."""
    driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": on})


def gaps(viewer, seconds):
    """Silences of more than 3 ms inside a steady tone, in milliseconds."""
    viewer.driver.set_script_timeout(seconds + 30)
    return viewer.asynchronous(EAR + r"""
        const [worklets, seconds, done] = arguments, gaps = [];
        (async () => {
          const source = window.ear.open(), context = window.ear.context;
          await context.audioWorklet.addModule("data:text/javascript," + encodeURIComponent(worklets));
          const node = new AudioWorkletNode(context, "gaps", { numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit" });
          node.port.onmessage = ({ data }) => gaps.push(data.gap);
          source.connect(node);
          await new Promise((r) => setTimeout(r, seconds * 1000));
          source.disconnect(node);
          done(gaps);
        })().catch((error) => done(String(error)));""", WORKLETS, seconds)


# How the offset is measured, and how well:
# - Picture: requestVideoFrameCallback's expectedDisplayTime of the frame whose bar code says it is the first white one. It is a
#   multiple of the display's 16.7 ms; a flash whose first frame was not presented is left out.
# - Sound: the audio context's time of the first loud sample, to one sample, put on the wall clock by the median of (Date.now() - context
#   time) over all blocks. WebAudio works in bursts and takes the track through a buffer, so sound is seen some milliseconds later than the
#   element plays it.
# `harness.reference`, which sends flash and beep in the same instant, shows how large the errors are: four sessions gave medians of
# -11, -10, -25 and -23 ms where the browser's own account of both tracks (estimatedPlayoutTimestamp) said -21, -16, -32 and -24 ms. So
# the method agrees with the browser within 10 ms, and a sender without fault is shown up to 25 ms early: the browser leaves
# differences below 30 ms alone. Nothing is subtracted.
OFFSETS = r"""
const [worklets, seconds, rate, done] = arguments;
(async () => {
  const source = window.ear.open(), context = window.ear.context, video = document.querySelector("video");
  await context.audioWorklet.addModule("data:text/javascript," + encodeURIComponent(worklets));
  const node = new AudioWorkletNode(context, "onsets", { numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit" });
  const flashes = [], onsets = [], clocks = [];
  node.port.onmessage = ({ data }) => {
    if (data.onset === undefined) clocks.push(data.date - data.clock * 1000);
    else onsets.push(data.onset * 1000);
  };
  source.connect(node);
  const dates = [];
  const until = performance.now() + seconds * 1000;
  let white = true;
  const step = (now, metadata) => {
    const code = window.barcode.read(video);
    dates.push(Date.now() - performance.now());
    if (code && code.frame % rate === 0 && !white) flashes.push({ at: metadata.expectedDisplayTime, number: code.frame });
    white = !!code && code.frame % rate === 0;
    if (performance.now() < until) video.requestVideoFrameCallback(step);
  };
  video.requestVideoFrameCallback(step);
  const estimates = [];
  while (performance.now() < until) {
    const at = {};
    for (const s of (await rtcast.pc.getStats()).values()) if (s.type === "inbound-rtp") at[s.kind] = s.estimatedPlayoutTimestamp;
    if (at.video && at.audio) estimates.push(at.audio - at.video);
    await new Promise((r) => setTimeout(r, 500));
  }
  source.disconnect(node);
  const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  const toDate = middle(dates), clockToDate = middle(clocks);
  done({ flashes: flashes.map((f) => f.at + toDate), onsets: onsets.map((t) => t + clockToDate), estimate: middle(estimates) ?? null });
})().catch((error) => done(String(error)));"""


def offsets(viewer, seconds, rate=30):
    """Milliseconds by which the picture is shown after the sound, one for each flash that has a beep within 400 ms, and the browser's
    own account of the same, as a median. Wants a flash-and-beep clip of `rate` frames per second. A browser on a busy machine leaves out
    frames, so not each flash is in the list."""
    from harness import barcode
    viewer.driver.set_script_timeout(seconds + 30)
    seen = viewer.asynchronous(EAR + barcode.READER + OFFSETS, WORKLETS, seconds, rate)
    assert isinstance(seen, dict), seen
    found = []
    for flash in seen["flashes"]:
        near = min(seen["onsets"], key=lambda onset: abs(onset - flash), default=None)
        if near is not None and abs(near - flash) < 400:
            found.append(flash - near)
    return found, seen["estimate"]


def settled_offset(viewer, rate=30, windows=9, within=None):
    """(median, the browser's own account) once two windows of six seconds agree within 10 ms: the browser brings both together by and by,
    and starts anew whenever the machine was busy. `within`: goes on while they agree on more than so many milliseconds; an offset that
    stays is returned in the end."""
    before, settled, history = None, None, []
    for _ in range(windows):
        found, own = offsets(viewer, 6, rate)
        if len(found) < 3:
            before = None
            history.append(f"{len(found)} flashes")
            continue
        now = statistics.median(found)
        history.append(round(now))
        if before is not None and abs(now - before) < 10:
            settled = now, own
            if within is None or abs(now) <= within:
                return settled
        before = now
    assert settled, f"the offset does not settle: {history}"
    return settled


def pitch(path):
    """The strongest frequency of the last third of a second in a file; None when there is no sound, or nothing but quiet."""
    done = subprocess.run(["ffmpeg", "-v", "quiet", "-i", str(path), "-vn", "-f", "s16le", "-ac", "1", "-ar", "48000", "-"],
                          capture_output=True)
    wave = np.frombuffer(done.stdout[:len(done.stdout) // 2 * 2], np.int16)[-16384:]
    if len(wave) < 16384 or np.abs(wave.astype(np.int32)).max() < 300:
        return None
    return float(np.argmax(np.abs(np.fft.rfft(wave * np.hanning(len(wave))))) * 48000 / len(wave))
