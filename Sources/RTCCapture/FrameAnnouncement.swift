package import RTCMedia
package import RTCPrimitives

/// Announces a frame that waits for its turn to the consumer: once for each frame, unless it comes later than announced.
package struct FrameAnnouncement {
  /// The least delay of a frame that is announced. If the delay grows by as much, the frame is announced again.
  private static let shortest = TimeDelta.milliseconds(5)

  /// The time announced for the next frame; nil when none was announced since the last frame.
  private var announced: Timestamp?

  package init() {}

  /// - Parameter grab: the time of the next frame; nil while no frame is due.
  package mutating func announce(_ grab: Timestamp?, to consumer: any VideoConsumer, now: Timestamp) {
    guard let grab, grab > now + Self.shortest else { return }
    if let announced, grab < announced + Self.shortest { return }
    announced = grab
    consumer.captureWillDeliver(at: grab)
  }

  /// The announced frame was delivered.
  package mutating func noteDelivery() { announced = nil }
}
