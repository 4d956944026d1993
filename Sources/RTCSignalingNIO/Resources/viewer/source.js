"use strict";
// Why the picture stands still, in a sentence of the caster.
//
// A feature of the page is a class with a `feature` name, `isPossible`, and a constructor that takes the peer connection and
// opens its data channels. If it has them, the page calls `attach(video, element of its name, receiver)` when pictures come,
// `ready()` when the page is hidden or shown, and `end()`.

class SourceNotice {
  static feature = "source";
  static isPossible = true;

  constructor(connection) {
    this.sentence = "";       // empty while the source delivers
    this.onchange = null;
    connection.createDataChannel("source", { protocol: "rtcast-source.1" }).onmessage = ({ data }) => {
      if (typeof data !== "string") return;
      this.sentence = data.slice(0, 300);
      this.onchange?.();
    };
  }
}

(globalThis.pageFeatures ??= []).push(SourceNotice);
