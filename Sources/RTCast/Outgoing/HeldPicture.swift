package import RTCMedia
package import RTCPrimitives

/// The newest picture of a movement that all viewers follow by exact pixels. It is not encoded before the movement
/// ends, or a viewer needs it.
package struct HeldPicture: Sendable {
  /// How much of a new picture all viewers have by exact pixels alone.
  package enum Following: Hashable, Sendable {
    /// Not all of it, or not all of them.
    case none
    /// All of it: nothing has changed.
    case unchanged
    /// All of it: they have made it of moved pixels and patches.
    case moved
  }

  private var waiting = PictureMailbox()
  /// When the movement has ended, unless it goes on.
  private var deadline: Timestamp?

  /// A wheel turns again within this time.
  package static let patience = TimeDelta.milliseconds(300)

  package init() {}

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
    if let picture { waiting.post(picture) }
    if picture != nil, following == .moved { deadline = now + Self.patience }
    let mayWait = picture == nil || following != .none
    if !isNeeded, mayWait, !waiting.isEmpty, let deadline, now < deadline { return (nil, deadline) }
    deadline = nil
    return (waiting.take()?.frame, nil)
  }
}
