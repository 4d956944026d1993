import RTCMedia
import RTCPrimitives

/// The messages sent to one viewer that draws the pointer.
struct CursorViewer {
  /// The viewer's RTP timestamp of the monotonic clock's origin.
  let clock: RTPTimestamp
  /// Whether it draws the pointer, and gets messages about it.
  var isDrawing = false
  /// The digests of the images that it keeps, the one used longest ago first.
  private var images: [UInt64] = []
  /// The newest position that was sent reliably.
  private var settled: UInt32?

  init(clock: RTPTimestamp) { self.clock = clock }

  func drawing(_ drawing: CursorDrawing, isSettled: Bool) -> [UInt8] {
    let timestamp = RTPTimestamp(RTPTimestamp(video: drawing.since).value &+ clock.value)
    return CursorMessage.drawing(
      timestamp, byViewer: !drawing.isDrawn, isSettled: isSettled, drawing.pictureSize)
  }

  /// The image, once, and after that only which one is meant.
  mutating func image(_ image: CursorImage, _ digest: UInt64) -> [UInt8] {
    if let index = images.firstIndex(of: digest) {
      images.append(images.remove(at: index))
      return CursorMessage.show(digest)
    }
    if images.count == CursorLimits.images { images.removeFirst() }
    images.append(digest)
    return CursorMessage.image(digest, image)
  }

  /// The position at which the pointer rests; nil when it was sent already.
  mutating func rest(_ number: UInt32, _ position: CursorPosition?) -> [UInt8]? {
    guard settled != number else { return nil }
    settled = number
    return CursorMessage.position(number, position)
  }
}

/// How many bytes of images may be sent: a pointer that always looks otherwise must not take the network from the video.
struct CursorImageBudget {
  /// Below zero after an image that was larger.
  private var credit = Self.depth
  private var updated = Timestamp.zero

  private static let bytesPerSecond = 20_000.0
  /// Credit that is not used is kept up to this, about a dozen of usual images.
  private static let depth = 65_536.0

  mutating func spend(_ bytes: Int, now: Timestamp) {
    credit = min(Self.depth, credit + (now - updated).seconds * Self.bytesPerSecond) - Double(bytes)
    updated = now
  }

  /// When there is credit again.
  var nextTurn: Timestamp { credit >= 0 ? .zero : updated + .seconds(-credit / Self.bytesPerSecond) }
}
