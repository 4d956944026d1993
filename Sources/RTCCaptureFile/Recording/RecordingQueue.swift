internal import RTCMedia
internal import Synchronization

/// The frames that wait to be written. The queue is bounded, so that a disk that stalls costs pictures and not memory.
final class RecordingQueue: Sendable {
  enum Item: Sendable {
    case began(RecordingTrack)
    case ended(RecordingTrack.Number)
    case picture(EncodedFrame, of: RecordingTrack.Number)
    case sound(EncodedAudioFrame, of: RecordingTrack.Number)

    var count: Int {
      switch self {
      case .began, .ended: 0
      case .picture(let frame, _): frame.data.count
      case .sound(let frame, _): frame.data.count
      }
    }
  }

  /// The result of adding an item.
  enum Outcome {
    /// The item was added; the reader sleeps and must be woken.
    case wakesReader
    case queued
    /// The queue is full, and this is the first picture that is left out.
    case beginsToSkip
    case leftOut
  }

  private enum Intake {
    /// The queue takes items. Pictures of these tracks are left out until a key frame of the track finds room.
    case open(skipping: Set<RecordingTrack.Number>)
    case closed
  }

  private struct State {
    var items: [Item] = []
    var bytes = 0
    var intake = Intake.open(skipping: [])
    /// Whether the reader found nothing and waits to be woken; otherwise it looks again by itself.
    var readerSleeps = false
  }

  private let state = Mutex(State())
  private let mostBytes: Int
  private let mostItems = 20_000

  init(mostBytes: Int) { self.mostBytes = mostBytes }

  func append(_ item: Item) -> Outcome {
    state.withLock { state in
      guard case .open(var skipping) = state.intake else { return .leftOut }
      let hasRoom = state.bytes + item.count <= mostBytes && state.items.count < mostItems
      switch item {
      case .began, .ended: break
      case .sound: if !hasRoom { return .leftOut }
      case .picture(let frame, let track):
        if skipping.contains(track) {
          guard frame.isKeyFrame, hasRoom else { return .leftOut }
          skipping.remove(track)
          state.intake = .open(skipping: skipping)
        } else if !hasRoom {
          defer { state.intake = .open(skipping: skipping.union([track])) }
          return skipping.isEmpty ? .beginsToSkip : .leftOut
        }
      }
      state.items.append(item)
      state.bytes += item.count
      defer { state.readerSleeps = false }
      return state.readerSleeps ? .wakesReader : .queued
    }
  }

  /// - Parameter sleepsIfEmpty: the reader will wait to be woken when it gets nothing.
  func takeAll(sleepsIfEmpty: Bool) -> [Item] {
    state.withLock { state in
      defer { (state.items, state.bytes) = ([], 0) }
      state.readerSleeps = sleepsIfEmpty && state.items.isEmpty
      return state.items
    }
  }

  /// Discards all waiting items and takes no more.
  func close() {
    state.withLock { state in
      state.intake = .closed
      (state.items, state.bytes) = ([], 0)
    }
  }
}
