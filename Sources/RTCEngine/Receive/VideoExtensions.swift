package import RTCMedia
package import RTCWire

/// The frame's properties in a packet's header extensions; nil if absent.
package struct VideoExtensions: Hashable, Sendable {
  package var rotation: VideoRotation?
  package var colorSpace: ColorSpace?
  package var playoutDelay: PlayoutDelay?

  package init() {}

  /// Takes the values of `newer`; absent values stay.
  mutating func update(from newer: VideoExtensions) {
    rotation = newer.rotation ?? rotation
    colorSpace = newer.colorSpace ?? colorSpace
    playoutDelay = newer.playoutDelay ?? playoutDelay
  }
}
