/// When a packet is shown and decoded on the media timeline, in nanoseconds, as its decoder is told it.
package struct PacketStamp: Hashable, Sendable {
  /// Nil when nobody knows.
  package var pts: Int64?
  package var dts: Int64?
  package var duration: Int64

  package init(pts: Int64?, dts: Int64?, duration: Int64) { (self.pts, self.dts, self.duration) = (pts, dts, duration) }
}
