"use strict";
// The ring and the other tones, made here: nothing is fetched.

class Ringer {
  constructor() {
    this.isOn = recall("ring") !== "off";
    this.playing = null;      // "ring" or "ringback"
    this.context = null;
  }

  /// Browsers let a page sound only after somebody touched it; call this from there.
  wake() {
    const Context = window.AudioContext ?? window.webkitAudioContext;
    try { this.context ??= Context ? new Context() : null; this.context?.resume().catch(() => {}); } catch { /* no sound, then */ }
  }

  set(on) {
    this.isOn = on;
    remember("ring", on ? "on" : "off");
    if (!on) this.play(null);
  }

  play(what) {
    if (this.playing === what || (what && !this.isOn)) return;
    clearInterval(this.turn);
    this.playing = what;
    document.documentElement.dataset.sounding = what ?? "";
    if (!what) { this.hush?.(); navigator.vibrate?.(0); return; }
    const once = what === "ring"
      ? () => { this.notes([[660, 0], [880, .16], [660, .5], [880, .66]], .22, .16); navigator.vibrate?.([300, 200, 300]); }
      : () => this.notes([[425, 0]], 1, .05);
    once();
    this.turn = setInterval(once, what === "ring" ? 2200 : 4000);
  }

  /// A single sign: somebody came, went, or said no.
  sign(kind) { if (this.isOn) this.notes({ came: [[520, 0], [780, .1]], went: [[520, 0], [390, .1]], no: [[320, 0], [320, .3]], word: [[900, 0]] }[kind], .12, .07); }

  notes(list, length, loudness) {
    const { context } = this;
    if (!context || context.state !== "running") return;
    const mix = context.createGain();
    mix.connect(context.destination);
    this.hush = () => mix.disconnect();
    for (const [pitch, at] of list) {
      const tone = context.createOscillator(), envelope = context.createGain(), start = context.currentTime + at;
      tone.frequency.value = pitch;
      tone.type = "triangle";
      envelope.gain.setValueAtTime(0, start);
      envelope.gain.linearRampToValueAtTime(loudness, start + .02);
      envelope.gain.setValueAtTime(loudness, start + length - .04);
      envelope.gain.linearRampToValueAtTime(0, start + length);
      tone.connect(envelope).connect(mix);
      tone.start(start);
      tone.stop(start + length);
    }
  }
}
