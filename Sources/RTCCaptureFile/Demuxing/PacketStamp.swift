/// The times at which a packet is shown and decoded on the media timeline, in nanoseconds, in the form for its decoder.
package struct PacketStamp: Hashable, Sendable {
  /// The times of showing and decoding; nil when they are not known.
  package var pts: Int64?
  package var dts: Int64?
  package var duration: Int64

  package init(pts: Int64?, dts: Int64?, duration: Int64) { (self.pts, self.dts, self.duration) = (pts, dts, duration) }
}
