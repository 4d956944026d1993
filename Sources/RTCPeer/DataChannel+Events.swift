public import RTCSCTP
import Synchronization

extension DataChannel {
  /// An event of a channel.
  public enum Event: Hashable, Sendable {
    /// The state changed.
    case stateChanged(DataChannelState)
    /// A message came.
    case message(DataChannelMessage)
    /// `bufferedAmount` has come down to `bufferedAmountLowThreshold`.
    case bufferedAmountLow
  }

  /// The events of a channel, for one reader; a second one that begins to wait ends the first.
  public struct Events: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = Event
    /// The sequence does not fail; it ends with the channel.
    public typealias Failure = Never
    let channel: DataChannel

    /// All iterators of a channel share its events: each event goes to one of them.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(channel: channel) }

    /// Takes the channel's events one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let channel: DataChannel

      /// Nil at the end, and when the task is cancelled.
      public func next() async -> Event? { await channel.nextEvent() }

      /// The next event; nil once the channel is closed and all were taken.
      public func next(isolation actor: isolated (any Actor)?) async -> Event? { await channel.nextEvent() }
    }
  }

  private func nextEvent() async -> Event? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { reader in
        let isCancelled = Task.isCancelled
        let now = condition.withLock { $0.inbox.wait(reader, isCancelled: isCancelled || Task.isCancelled) }
        if let now { deliver(now) }
      }
    } onCancel: {
      condition.withLock { $0.inbox.removeReader() }?.resume(returning: nil)
    }
  }
}

/// Receives the events of a channel on the connection's thread; methods must not wait.
public protocol DataChannelDelegate: AnyObject, Sendable {
  /// `readyState` is another than before.
  func dataChannelDidChangeState(_ channel: DataChannel)
  /// A message came.
  func dataChannel(_ channel: DataChannel, didReceiveMessageWith buffer: DataBuffer)
  /// `bufferedAmount` has come down to `bufferedAmountLowThreshold`.
  func dataChannelBufferedAmountDidBecomeLow(_ channel: DataChannel)
}

extension DataChannelDelegate {
  /// Does nothing by default.
  package func dataChannelBufferedAmountDidBecomeLow(_ channel: DataChannel) {}
}

/// A message as bytes (WebRTC's `RTCDataBuffer`).
public struct DataBuffer: Hashable, Sendable {
  /// The message's bytes; text is UTF-8.
  public var data: [UInt8]
  /// False: `data` is UTF-8 text.
  public var isBinary: Bool

  /// - Parameter isBinary: false for text, which is UTF-8.
  public init(data: [UInt8], isBinary: Bool) {
    self.data = data
    self.isBinary = isBinary
  }

  init(_ message: DataChannelMessage) {
    switch message {
    case .text(let text): self.init(data: Array(text.utf8), isBinary: false)
    case .binary(let bytes): self.init(data: bytes, isBinary: true)
    }
  }

  /// The message as text; bytes that are no UTF-8 become U+FFFD.
  public var text: String { String(decoding: data, as: UTF8.self) }

  var message: DataChannelMessage { isBinary ? .binary(data) : .text(text) }
}
