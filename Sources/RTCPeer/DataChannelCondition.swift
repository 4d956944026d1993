import RTCSCTP

/// The state of a channel as its users see it; the loop updates it.
struct DataChannelCondition: Sendable {
  var id: StreamID?
  var readyState = DataChannelState.connecting
  /// Given to `send`, on the way to the loop.
  var underway = 0
  /// In the peer, waiting for SCTP.
  var waiting = 0
  var lowThreshold = 0
  var maximumMessageSize: Int?
  weak var delegate: (any DataChannelDelegate)?
  var inbox = DataChannelInbox()

  init(id: StreamID?) { self.id = id }

  var bufferedAmount: Int { underway + waiting }

  /// Counts a message that is about to be sent.
  mutating func admit(_ size: Int, limit: Int) throws(DataChannelError) {
    guard readyState == .open else { throw .notOpen }
    if let maximumMessageSize, size > maximumMessageSize { throw .messageTooLong(limit: maximumMessageSize) }
    guard bufferedAmount + size <= limit else { throw .bufferFull }
    underway += size
  }

  mutating func apply(_ event: DataChannel.Event) {
    guard case .stateChanged(let state) = event else { return }
    readyState = state
    if state == .closed { waiting = 0 }
  }
}

/// Events that wait for a reader, and readers that wait for an event.
struct DataChannelInbox: Sendable {
  typealias Reader = CheckedContinuation<DataChannel.Event?, Never>

  /// An event for the reader that waited; to be resumed outside of the lock.
  struct Delivery {
    var reader: Reader
    /// Nil: there will be no more.
    var event: DataChannel.Event?
  }

  private(set) var unreadBytes = 0
  private var events: [DataChannel.Event] = []
  private var head = 0
  private var reader: Reader?
  private var isComplete = false

  /// The cost of a waiting message: its bytes and the memory to hold it.
  static func cost(of message: DataChannelMessage) -> Int { message.size + 64 }

  /// Takes an event, or says to whom it must be given at once.
  mutating func append(_ event: DataChannel.Event, hasDelegate: Bool) -> Delivery? {
    if case .stateChanged(.closed) = event { isComplete = true }
    if !hasDelegate, head == events.count, let reader {
      self.reader = nil
      return Delivery(reader: reader, event: event)
    }
    events.append(event)
    if case .message(let message) = event { unreadBytes += Self.cost(of: message) }
    return nil
  }

  mutating func removeFirst() -> DataChannel.Event? {
    guard head < events.count else { return nil }
    let event = events[head]
    head += 1
    if head == events.count || head >= 1_024 {
      events.removeFirst(head)
      head = 0
    }
    if case .message(let message) = event { unreadBytes -= Self.cost(of: message) }
    return event
  }

  /// A reader requests the next event.
  /// - Returns: an event to deliver at once, to this or an earlier reader.
  mutating func wait(_ new: Reader, isCancelled: Bool) -> Delivery? {
    if isCancelled { return Delivery(reader: new, event: nil) }
    if let event = removeFirst() { return Delivery(reader: new, event: event) }
    if isComplete { return Delivery(reader: new, event: nil) }
    defer { reader = new }
    return reader.map { Delivery(reader: $0, event: nil) }
  }

  /// The reader waits no more.
  mutating func removeReader() -> Reader? {
    defer { reader = nil }
    return reader
  }
}
