public import RTCMedia

/// One picture or one sound in a recording, among others; see `Recorder.addPictures` and `Recorder.addSound`.
public final class RecordingTrack: EncodedMediaSink {
  /// Tells the tracks of a recorder apart.
  struct Number: Hashable, Comparable {
    var value: Int
    static func < (one: Self, other: Self) -> Bool { one.value < other.value }
  }

  enum Kind {
    case pictures, sound
  }

  let number: Number
  let kind: Kind
  /// Whose it is, which the file says.
  let name: String?
  /// Asks the source for a key frame.
  let askForKeyFrame: @Sendable () -> Void
  private let append: @Sendable (RecordingQueue.Item) -> Void

  init(
    _ number: Number, _ kind: Kind, name: String?, askForKeyFrame: @escaping @Sendable () -> Void = {},
    append: @escaping @Sendable (RecordingQueue.Item) -> Void
  ) {
    (self.number, self.kind, self.name) = (number, kind, name)
    (self.askForKeyFrame, self.append) = (askForKeyFrame, append)
    append(.began(self))
  }

  /// Takes a frame to write; any thread, returns at once. Frames come in decoding order. A track of sound leaves it out.
  public func take(_ frame: EncodedFrame) { if kind == .pictures { append(.picture(frame, of: number)) } }

  /// Takes a packet to write; any thread, returns at once. A track of pictures leaves it out.
  public func take(_ frame: EncodedAudioFrame) { if kind == .sound { append(.sound(frame, of: number)) } }

  /// Nothing more comes: the others do not wait for it any longer.
  public func end() { append(.ended(number)) }
}
