public import RTCSCTP
import Synchronization

/// One data channel of a connection (W3C `RTCDataChannel`). Any thread may use it.
///
/// Events go to the delegate or, while there is none, to `events`. No event is lost: events wait until they are taken.
/// When a few megabytes of messages wait in a connection's channels, the remote peer is held back in all of them, as
/// SCTP has one window. Close an unwanted channel instead of leaving it unread.
public final class DataChannel: Sendable {
  /// The label (RFC 8832): any text, including the empty one.
  public let label: String
  /// The name of the application's protocol; often empty.
  public let `protocol`: String
  /// Messages come in the order in which they were sent.
  public let isOrdered: Bool
  /// A lost message is sent again at most so often; nil: until it arrives, or its time is over.
  public let maxRetransmits: UInt32?
  /// Milliseconds after which a message that has not arrived is given up; nil: never.
  public let maxPacketLifeTime: UInt32?
  /// True when both sides made the channel by themselves, under an `id` they agreed on.
  public let isNegotiated: Bool

  let handle: DataChannelHandle
  private let link: DataChannelLink
  // Not private: the type must be seen by `Mutex` in this file alone, but `DataChannel+Events.swift` works on it.
  let condition: Mutex<DataChannelCondition>

  init(_ parameters: DataChannelParameters, handle: DataChannelHandle, link: DataChannelLink) {
    label = parameters.label
    `protocol` = parameters.protocol
    isOrdered = parameters.isOrdered
    (maxRetransmits, maxPacketLifeTime) =
      switch parameters.reliability {
      case .reliable: (nil, nil)
      case .maximumRetransmissions(let count): (count, nil)
      case .maximumLifetime(let milliseconds): (nil, milliseconds)
      }
    isNegotiated = parameters.negotiatedStream != nil
    self.handle = handle
    self.link = link
    condition = Mutex(DataChannelCondition(id: parameters.negotiatedStream))
  }

  deinit { link.took(bytes: condition.withLock { $0.inbox.unreadBytes }) }

  // MARK: - State

  /// The stream's number; nil before the connection stands, when the channel is not negotiated.
  public var id: UInt16? { condition.withLock { $0.id?.value } }

  /// The channel's state (W3C WebRTC §6.2). Any thread.
  public var readyState: DataChannelState { condition.withLock { $0.readyState } }

  /// Bytes of messages that were given to `send` and wait for SCTP to take them.
  public var bufferedAmount: Int { condition.withLock { $0.bufferedAmount } }

  /// The longest message that `send` takes, in bytes; nil before the channel is open.
  public var maximumMessageSize: Int? { condition.withLock { $0.maximumMessageSize } }

  /// `bufferedAmountLow` is said when `bufferedAmount` comes down to this; 0 at first.
  public var bufferedAmountLowThreshold: Int {
    get { condition.withLock { $0.lowThreshold } }
    set { condition.withLock { $0.lowThreshold = max(0, newValue) } }
  }

  // MARK: - Sending

  /// Queues text.
  /// - Throws: when the channel is not open, the message is longer than the remote peer takes, or too much waits already.
  public func send(_ text: String) throws(DataChannelError) { try send(.text(text)) }

  /// Queues bytes; throws as `send(_: String)` does.
  public func send(_ bytes: [UInt8]) throws(DataChannelError) { try send(.binary(bytes)) }

  /// Queues a message; throws as `send(_: String)` does.
  public func send(_ buffer: DataBuffer) throws(DataChannelError) { try send(buffer.message) }

  private func send(_ message: DataChannelMessage) throws(DataChannelError) {
    let size = message.size
    try condition.withLock { condition throws(DataChannelError) in
      try condition.admit(size, limit: link.maximumBufferedAmount)
    }
    link.perform(.send(message, handle)) { self.changeBufferedAmount { $0.underway -= size } }
  }

  /// Closes the channel after all waiting messages were sent; both sides are notified. Further calls have no effect.
  public func close() {
    let isNew = condition.withLock { condition in
      guard condition.readyState == .open || condition.readyState == .connecting else { return false }
      condition.readyState = .closing
      return true
    }
    if isNew { link.perform(.close(handle)) }
  }

  // MARK: - Receiving

  /// Sends waiting and further events to `delegate`, on the connection's thread; it must not wait. Held weakly. Nil: to
  /// `events` again.
  public func setDelegate(_ delegate: (any DataChannelDelegate)?) {
    condition.withLock { $0.delegate = delegate }
    if delegate != nil { link.run { self.serveDelegate() } }
  }

  /// Events in order; ends when the channel is closed. For one reader.
  public var events: Events { Events(channel: self) }

  /// The messages alone; the same single reader.
  public var messages: AsyncCompactMapSequence<Events, DataChannelMessage> {
    events.compactMap { if case .message(let message) = $0 { message } else { nil } }
  }

  // MARK: - On the loop

  func handle(_ event: Event) {
    if case .message(let message) = event { link.received(bytes: DataChannelInbox.cost(of: message)) }
    let waiting = condition.withLock { condition in
      condition.apply(event)
      return condition.inbox.append(event, hasDelegate: condition.delegate != nil)
    }
    if let waiting { deliver(waiting) } else { serveDelegate() }
  }

  func opened(stream: StreamID?, maximumMessageSize: Int) {
    condition.withLock {
      $0.id = stream
      $0.maximumMessageSize = maximumMessageSize
    }
    handle(.stateChanged(.open))
  }

  func bufferedAmountChanged(to bytes: Int) { changeBufferedAmount { $0.waiting = bytes } }

  /// The peer knows only of messages that have reached it; the threshold for all waiting bytes is checked here.
  private func changeBufferedAmount(_ change: (inout DataChannelCondition) -> Void) {
    let isLow = condition.withLock { condition in
      let before = condition.bufferedAmount
      change(&condition)
      return before > condition.lowThreshold && condition.bufferedAmount <= condition.lowThreshold
    }
    if isLow { handle(.bufferedAmountLow) }
  }

  /// Delivers an event to a reader, and reports the freed memory of the inbox. Any thread.
  func deliver(_ waiting: DataChannelInbox.Delivery) {
    waiting.reader.resume(returning: waiting.event)
    if case .message(let message)? = waiting.event { link.took(bytes: DataChannelInbox.cost(of: message)) }
  }

  /// Gives the delegate what waits, in order.
  private func serveDelegate() {
    while true {
      let next = condition.withLock { condition -> (any DataChannelDelegate, Event)? in
        guard let delegate = condition.delegate, let event = condition.inbox.removeFirst() else { return nil }
        return (delegate, event)
      }
      guard let (delegate, event) = next else { return }
      switch event {
      case .stateChanged: delegate.dataChannelDidChangeState(self)
      case .bufferedAmountLow: delegate.dataChannelBufferedAmountDidBecomeLow(self)
      case .message(let message):
        link.took(bytes: DataChannelInbox.cost(of: message))
        delegate.dataChannel(self, didReceiveMessageWith: DataBuffer(message))
      }
    }
  }
}
