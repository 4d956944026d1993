package import RTCMedia
package import RTCPrimitives

/// The newest picture of a movement that all viewers follow by exact pixels. It is not encoded before the movement
/// ends, or a viewer needs it.
package struct HeldPicture: Sendable {
  /// How much of a new picture all viewers have by exact pixels alone.
  package enum Following: Hashable, Sendable {
    /// Not all of it, or not all of them.
    case none
    /// All of it, and nothing has moved: nothing has changed, or a small change was in patches.
    case complete
    /// All of it: they have made it of moved pixels and patches.
    case moved
  }

  private var waiting = PictureMailbox()
  /// When the movement has ended, unless it goes on.
  private var deadline: Timestamp?
  /// When the first of the pictures came that were held back since a frame was encoded.
  private var since: Timestamp?
  /// Pictures that were held back and became no frame.
  private var replaced: UInt64 = 0

  /// A movement has ended when there was no step of it for this time. The notches of a wheel are closer to each other.
  package static let patience = TimeDelta.milliseconds(300)
  /// In a movement without end a picture is encoded this often. Viewers that say they follow may lag, and the rate of the
  /// network is measured by packets of video.
  package static let longest = TimeDelta.seconds(2)

  package init() {}

  /// Forgets the picture: its source is not shown any more.
  package mutating func clear() {
    let lost = replaced + (waiting.isEmpty ? 0 : 1)
    self = HeldPicture()
    replaced = lost
  }

  /// Whether a movement goes on, and pictures of it wait.
  package func isMovement(_ now: Timestamp) -> Bool { deadline.map { now < $0 } ?? false }

  /// Takes the picture of a pass.
  /// - Parameters:
  ///   - picture: the newest; nil: there is none.
  ///   - following: how much of it viewers have by exact pixels.
  ///   - isNeeded: whether a frame is needed now, whatever viewers have.
  /// - Returns: the picture to encode, with all changes since the last one that was encoded; and, while it is held back,
  ///   when it will be due.
  package mutating func take(
    _ picture: VideoFrame?, following: Following, isNeeded: Bool, now: Timestamp
  ) -> (picture: VideoFrame?, heldUntil: Timestamp?) {
    if let picture {
      if !waiting.isEmpty { replaced += 1 }
      waiting.post(picture)
    }
    if picture != nil, following == .moved { deadline = now + Self.patience }
    let mayWait = picture == nil || following != .none
    if !isNeeded, mayWait, !waiting.isEmpty, let deadline, now < deadline {
      let first = since ?? now
      since = first
      if now < first + Self.longest { return (nil, min(deadline, first + Self.longest)) }
    }
    (deadline, since) = (nil, nil)
    return (waiting.take()?.frame, nil)
  }

  /// The number of pictures that were held back and became no frame, since it was last taken.
  package mutating func takeReplaced() -> UInt64 {
    defer { replaced = 0 }
    return replaced
  }
}
