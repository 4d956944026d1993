import RTCPrimitives
import RTCWire

/// Messages that wait to be sent, by stream, and the stream scheduler.
///
/// Streams are scheduled by deficit round robin, weighted by the priority of RFC 8831 §6.4. With interleaving (RFC
/// 8260) a turn is several fragments; without it, a started message is sent completely, and the stream's deficit
/// becomes negative.
struct SendQueue {
  enum Next {
    case fragment(OutgoingFragment)
    /// A message that has been sent in part and whose time is over: no more of it comes.
    case expired(messageID: UInt64, StreamID, isUnordered: Bool, messageNumber: UInt32)
    /// The next fragment needs more room: a packet of its own.
    case needsRoom
    case nothing
  }

  private struct Begun {
    var id: UInt64
    var sent: Int
    var number: UInt32
    var fragment: UInt32
  }

  private struct Stream {
    var messages = Ring<OutgoingMessage>()
    /// The first message, when part of it has been sent.
    var begun: Begun?
    var nextOrdered: UInt32 = 0
    var nextUnordered: UInt32 = 0
    var bufferedAmount = 0
    /// Bytes it may send in this turn.
    var deficit = 0
    /// Bytes a turn adds.
    var quantum = 2_048
    var isActive = false
    var isTouched = false
  }

  /// The bytes that one turn gives a stream of normal priority, 256.
  private static let quantum = 2_048

  /// True once both sides have agreed on it.
  var isInterleaved = false
  /// Interleaved messages that have begun are together no longer than this, so that they fit the peer's buffer.
  var begunLimit = 64 * 1024
  /// Streams whose buffered amount has changed since they were last taken.
  private(set) var touched: [StreamID] = []
  private var streams: [Stream] = []
  /// Streams with something to send; the first has its turn.
  private var active = Ring<StreamID>()
  private var hasTurnBegun = false
  private var begunBytes = 0
  private var messageCount = 0
  private var nextID: UInt64 = 1

  var isEmpty: Bool { messageCount == 0 }

  func bufferedAmount(of stream: StreamID) -> Int {
    stream.value < streams.count ? streams[Int(stream.value)].bufferedAmount : 0
  }

  /// True when something of the stream has not been sent.
  func hasMessages(of stream: StreamID) -> Bool {
    stream.value < streams.count && !streams[Int(stream.value)].messages.isEmpty
  }

  mutating func takeTouched() -> [StreamID] {
    guard !touched.isEmpty else { return [] }
    defer { touched.removeAll(keepingCapacity: true) }
    for stream in touched { streams[Int(stream.value)].isTouched = false }
    return touched
  }

  mutating func enqueue(_ message: OutgoingMessage, on stream: StreamID, priority: UInt16) {
    let index = Int(stream.value)
    while streams.count <= index { streams.append(Stream()) }
    streams[index].quantum = max(128, Self.quantum * Int(priority) / 256)
    streams[index].messages.append(message)
    messageCount += 1
    changeAmount(of: stream, by: message.bufferedSize)
    guard !streams[index].isActive else { return }
    streams[index].isActive = true
    streams[index].deficit = 0
    active.append(stream)
  }

  /// The next fragment, of at most `room` bytes of data.
  /// - Parameter fullRoom: the bytes of data that fit a packet of its own.
  mutating func next(room: Int, fullRoom: Int, now: Timestamp) -> Next {
    while let stream = pickStream(now: now, fullRoom: fullRoom) {
      let index = Int(stream.value)
      let message = streams[index].messages[0]
      if message.expiry <= now {
        guard let begun = streams[index].begun else {
          removeFirst(of: stream)
          continue
        }
        let result = Next.expired(
          messageID: begun.id, stream, isUnordered: message.isUnordered, messageNumber: begun.number)
        removeFirst(of: stream)
        return result
      }
      let left = message.bytes.count - (streams[index].begun?.sent ?? 0)
      // A fragment is not cut short only because something else came first, if much of a packet would stay unused.
      if left > room, left <= fullRoom || room < fullRoom / 2 { return .needsRoom }
      return .fragment(takeFragment(of: stream, message, count: min(left, room)))
    }
    return .nothing
  }

  /// Drops the rest of a message that has been sent in part. False when nothing of it was left.
  mutating func discardRest(of messageID: UInt64, on stream: StreamID) -> Bool {
    guard stream.value < streams.count, streams[Int(stream.value)].begun?.id == messageID else { return false }
    removeFirst(of: stream)
    return true
  }

  /// Drops what waits in the stream and has not begun.
  mutating func discard(_ stream: StreamID) {
    guard stream.value < streams.count else { return }
    let index = Int(stream.value)
    let kept = streams[index].begun == nil ? nil : streams[index].messages.first
    let left = kept.map { max(0, $0.bufferedSize - (streams[index].begun?.sent ?? 0)) } ?? 0
    messageCount -= streams[index].messages.count - (kept == nil ? 0 : 1)
    streams[index].messages.removeAll()
    if let kept { streams[index].messages.append(kept) }
    changeAmount(of: stream, by: left - streams[index].bufferedAmount)
  }

  /// Numbers of the stream begin at 0 again (RFC 6525).
  mutating func resetNumbers(of stream: StreamID) {
    guard stream.value < streams.count else { return }
    streams[Int(stream.value)].nextOrdered = 0
    streams[Int(stream.value)].nextUnordered = 0
  }

  // MARK: Turns

  /// The stream that may send now; nil when none has anything.
  private mutating func pickStream(now: Timestamp, fullRoom: Int) -> StreamID? {
    while let stream = active.first {
      let index = Int(stream.value)
      guard let message = streams[index].messages.first else {
        streams[index].isActive = false
        endTurn(staysActive: false)
        continue
      }
      if active.count == 1 { return stream }
      let hasBegun = streams[index].begun != nil
      if hasBegun, !isInterleaved { return stream }
      if !hasTurnBegun {
        streams[index].deficit += streams[index].quantum
        hasTurnBegun = true
      }
      let waitsForOthers =
        !hasBegun && begunBytes > 0 && message.bytes.count > fullRoom
        && begunBytes + message.bytes.count > begunLimit
      if streams[index].deficit > 0, !waitsForOthers { return stream }
      // A stream that waits for others saves at most one turn.
      if waitsForOthers { streams[index].deficit = min(streams[index].deficit, streams[index].quantum) }
      endTurn(staysActive: true)
    }
    return nil
  }

  private mutating func endTurn(staysActive: Bool) {
    let stream = active.removeFirst()
    if staysActive { active.append(stream) }
    hasTurnBegun = false
  }

  private mutating func takeFragment(of stream: StreamID, _ message: OutgoingMessage, count: Int) -> OutgoingFragment {
    let index = Int(stream.value)
    if streams[index].begun == nil { begin(stream, message) }
    var begun = streams[index].begun!
    let range = begun.sent..<begun.sent + count
    let fragment = OutgoingFragment(
      message: message.bytes, range: range, stream: stream, isUnordered: message.isUnordered,
      isEnd: range.upperBound == message.bytes.count, messageNumber: begun.number, fragmentNumber: begun.fragment,
      payloadProtocol: message.payloadProtocol, messageID: begun.id,
      maximumRetransmissions: message.maximumRetransmissions, expiry: message.expiry)
    begun.sent += count
    begun.fragment &+= 1
    streams[index].begun = begun
    streams[index].deficit -= count + 16
    changeAmount(
      of: stream, by: min(message.bufferedSize, range.lowerBound) - min(message.bufferedSize, range.upperBound))
    if fragment.isEnd { removeFirst(of: stream) }
    return fragment
  }

  private mutating func begin(_ stream: StreamID, _ message: OutgoingMessage) {
    let index = Int(stream.value)
    var number: UInt32 = 0
    if !message.isUnordered {
      number = streams[index].nextOrdered
      streams[index].nextOrdered = isInterleaved ? number &+ 1 : (number &+ 1) & 0xFFFF
    } else if isInterleaved {
      number = streams[index].nextUnordered
      streams[index].nextUnordered = number &+ 1
    }
    streams[index].begun = Begun(id: nextID, sent: 0, number: number, fragment: 0)
    nextID &+= 1
    begunBytes += message.bytes.count
  }

  private mutating func removeFirst(of stream: StreamID) {
    let index = Int(stream.value)
    let message = streams[index].messages.removeFirst()
    messageCount -= 1
    let sent = streams[index].begun?.sent ?? 0
    if streams[index].begun != nil { begunBytes -= message.bytes.count }
    streams[index].begun = nil
    changeAmount(of: stream, by: -max(0, message.bufferedSize - sent))
  }

  private mutating func changeAmount(of stream: StreamID, by change: Int) {
    guard change != 0 else { return }
    let index = Int(stream.value)
    streams[index].bufferedAmount += change
    guard !streams[index].isTouched else { return }
    streams[index].isTouched = true
    touched.append(stream)
  }
}
