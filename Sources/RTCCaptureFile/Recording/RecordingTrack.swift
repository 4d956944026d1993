public import RTCMedia
internal import Synchronization

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
  private let hasBegun: Atomic<Bool>

  /// - Parameter isExpected: the file waits for the track; otherwise it learns of the track with the first frame.
  init(
    _ number: Number, _ kind: Kind, name: String?, isExpected: Bool = true,
    askForKeyFrame: @escaping @Sendable () -> Void = {}, append: @escaping @Sendable (RecordingQueue.Item) -> Void
  ) {
    (self.number, self.kind, self.name) = (number, kind, name)
    (self.askForKeyFrame, self.append) = (askForKeyFrame, append)
    hasBegun = Atomic(false)
    if isExpected { begin() }
  }

  /// Takes a frame to write; any thread, returns at once. Frames come in decoding order. A track of sound leaves it out.
  public func take(_ frame: EncodedFrame) {
    guard kind == .pictures else { return }
    begin()
    append(.picture(frame, of: number))
  }

  /// Takes a packet to write; any thread, returns at once. A track of pictures leaves it out.
  public func take(_ frame: EncodedAudioFrame) {
    guard kind == .sound else { return }
    begin()
    append(.sound(frame, of: number))
  }

  private func begin() {
    if !hasBegun.exchange(true, ordering: .relaxed) { append(.began(self)) }
  }

  /// Nothing more comes: the others do not wait for it any longer.
  public func end() { append(.ended(number)) }
}
