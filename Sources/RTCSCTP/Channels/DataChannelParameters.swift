public import RTCWire

/// Names a channel for as long as its transport lives; never used again.
package struct DataChannelHandle: Hashable, Sendable, BitwiseCopyable {
  /// A number that identifies the channel within its transport.
  package let value: UInt64
  init(_ value: UInt64) { self.value = value }
}

/// The parameters of a channel (W3C RTCDataChannelInit).
public struct DataChannelParameters: Hashable, Sendable {
  /// At most 65,535 bytes of UTF-8.
  public var label: String
  /// The subprotocol, at most 65,535 bytes of UTF-8; empty: none.
  public var `protocol`: String
  /// True when messages are delivered in the order they were sent in.
  public var isOrdered: Bool
  /// How hard the channel tries to deliver each message.
  public var reliability: DataChannelReliability
  /// RFC 8831 §6.4: 128, 256 (normal), 512 or 1024. Channels with more to send get turns in this proportion.
  public var priority: UInt16
  /// The stream that both sides have agreed on by other means; nil: this side chooses one and announces it (RFC 8832).
  public var negotiatedStream: StreamID?

  /// Takes all values as they are; lengths are checked when the channel is opened.
  public init(
    label: String = "", protocol: String = "", isOrdered: Bool = true,
    reliability: DataChannelReliability = .reliable, priority: UInt16 = 256, negotiatedStream: StreamID? = nil
  ) {
    self.label = label
    self.protocol = `protocol`
    self.isOrdered = isOrdered
    self.reliability = reliability
    self.priority = priority
    self.negotiatedStream = negotiatedStream
  }

  init(_ open: DataChannelOpen) {
    self.init(
      label: open.label, protocol: open.protocol, isOrdered: open.isOrdered, reliability: open.reliability,
      priority: open.priority)
  }

  var openMessage: DataChannelOpen {
    DataChannelOpen(
      isOrdered: isOrdered, reliability: reliability, priority: priority, label: label, protocol: `protocol`)
  }

  var nameSize: Int { label.utf8.count + `protocol`.utf8.count }
}

/// One message of a channel.
public enum DataChannelMessage: Hashable, Sendable {
  case text(String)
  case binary([UInt8])

  /// Bytes of content.
  public var size: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .binary(let bytes): bytes.count
    }
  }
}

/// The life of a channel (W3C RTCDataChannelState).
public enum DataChannelState: Hashable, Sendable {
  case connecting
  case open
  case closing
  case closed
}

/// Why the association, and with it every channel, ended.
package enum DataChannelEnd: Hashable, Sendable {
  /// By `close`.
  case closedHere
  /// The peer aborted it, shut it down, or restarted.
  case closedByPeer
  /// No answer to ten transmissions in a row.
  case timeout
}

/// The result of a step of a `DataChannelTransport`.
package enum DataChannelEvent: Hashable, Sendable {
  /// The association stands.
  case connected
  /// The peer opened a channel; it can be used at once.
  case incoming(DataChannelHandle, DataChannelParameters)
  /// A channel of ours can be used.
  case opened(DataChannelHandle)
  case message(DataChannelHandle, DataChannelMessage)
  /// The number of waiting bytes; not reported for messages that are sent at once.
  case bufferedAmountChanged(DataChannelHandle, Int)
  /// `bufferedAmount` has come down to the threshold.
  case bufferedAmountLow(DataChannelHandle)
  /// The peer closes the channel; nothing more can be sent.
  case closing(DataChannelHandle)
  case closed(DataChannelHandle)
  case ended(DataChannelEnd)
}

/// Why a request was not carried out: the caller's doing.
public enum DataChannelError: Error, Hashable, Sendable {
  case unknownChannel
  /// The channel is not open yet, or closes already.
  case notOpen
  /// Longer than the peer, or `DataChannelOptions.sendBuffer`, takes.
  case messageTooLong(limit: Int)
  /// `DataChannelOptions.maximumBufferedAmount` is reached; wait for `bufferedAmountLow`.
  case bufferFull
  case labelTooLong
  /// The connection was made without data channels.
  case unavailable
  /// No stream is free, or the one asked for is taken or beyond those agreed upon.
  case noStream
  /// The association has ended.
  case ended
}

/// Limits and sizes of a transport, all in bytes if not said otherwise.
public struct DataChannelOptions: Hashable, Sendable {
  /// The longest message taken from the peer; goes into `a=max-message-size`. 256 KiB is what browsers say.
  public var maximumMessageSize = 262_144
  /// Maximum bytes that the peer may have in flight to us, complete or not; should hold more than one message.
  public var receiveBuffer = 1 << 20
  /// Maximum bytes that may be sent and not acknowledged; also the longest message.
  public var sendBuffer = 1 << 20
  /// Maximum bytes that may wait in each channel, as in browsers.
  public var maximumBufferedAmount = 16 << 20
  /// Most streams, and so channels.
  public var maximumStreams: UInt16 = 1024
  /// Labels and protocols of the peer's channels together.
  public var maximumNameBytes = 1 << 20
  /// A long message does not hold up others (RFC 8260), where the peer knows how.
  public var interleavesMessages = true
  /// Maximum size of SCTP packets: the size that fits a DTLS record in a datagram of 1200 bytes, in whole words.
  public var packetSize = 1160

  /// The defaults.
  public init() {}
}

/// The packets and events of one step; reused, emptied by its owner.
package struct DataChannelOutbox: ~Copyable {
  /// SCTP packets to be sent, each in one DTLS record.
  package var packets = SCTPPackets()
  /// The events of the step, in order.
  package var events: [DataChannelEvent] = []

  /// Neither packets nor events.
  package init() {}

  /// Forgets packets and events and keeps the memory.
  package mutating func removeAll() {
    packets.removeAll()
    events.removeAll(keepingCapacity: true)
  }
}

extension DataChannelError: CustomStringConvertible {
  /// A sentence with the reason and, where possible, the remedy.
  public var description: String {
    switch self {
    case .unknownChannel: "there is no such data channel"
    case .notOpen: "the data channel is not open: wait for its state to be open"
    case .messageTooLong(let limit):
      "the message is longer than \(limit) bytes, the most that is taken: send it in parts"
    case .bufferFull: "too much waits to be sent already: wait until the buffered amount is low"
    case .labelTooLong: "label and protocol of a data channel may have 65,535 bytes each"
    case .unavailable: "this connection was made without data channels"
    case .noStream: "no stream is free for the data channel, or the one asked for is taken or too high"
    case .ended: "the connection's data channels have ended: make a new connection"
    }
  }
}
