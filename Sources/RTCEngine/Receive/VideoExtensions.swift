package import RTCMedia
package import RTCWire

/// What the header extensions of a packet say of its frame; nil where they say nothing.
package struct VideoExtensions: Hashable, Sendable {
  package var rotation: VideoRotation?
  package var colorSpace: ColorSpace?
  package var playoutDelay: PlayoutDelay?

  package init() {}

  /// What `newer` says, and where it says nothing what was said before.
  mutating func update(from newer: VideoExtensions) {
    rotation = newer.rotation ?? rotation
    colorSpace = newer.colorSpace ?? colorSpace
    playoutDelay = newer.playoutDelay ?? playoutDelay
  }
}
