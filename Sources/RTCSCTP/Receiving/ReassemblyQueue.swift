import RTCPrimitives
import RTCWire

/// Makes messages of chunks, and hands on the ordered ones of a stream in their order (RFC 9260 §6.5, §6.6; RFC 8260 §2.2.3).
///
/// What it keeps is limited; a chunk that finds no room is treated as lost.
struct ReassemblyQueue {
  private struct Stream {
    /// The ordered message that is delivered next.
    var next: UInt32 = 0
    /// Complete ones that come after it, in their order.
    var waiting: [(number: UInt32, message: Message)] = []
  }

  private struct Message {
    var stream: StreamID
    var payloadProtocol: UInt32
    /// Nil: longer than allowed.
    var bytes: [UInt8]?
    var cost: Int { FragmentList.overhead + (bytes?.count ?? 0) }
  }

  private struct ListKey: Hashable {
    var stream: StreamID
    var isUnordered: Bool
    var number: UInt32
  }

  /// The longest message taken.
  let maximumMessageSize: Int
  /// Bytes that it keeps at most, messages included that have not been taken over yet.
  let capacity: Int
  let isInterleaved: Bool
  private(set) var used = 0
  private var streams: [Stream] = []
  /// Of DATA: all fragments, by TSN.
  private var fragments = FragmentList()
  /// Of I-DATA: those of each message, by fragment number.
  private var lists: [ListKey: FragmentList] = [:]

  init(maximumMessageSize: Int, capacity: Int, isInterleaved: Bool) {
    self.maximumMessageSize = maximumMessageSize
    self.capacity = capacity
    self.isInterleaved = isInterleaved
  }

  /// The last eighth is kept for chunks that fill gaps: without them nothing moves on.
  private var softCapacity: Int { capacity - capacity / 8 }
  /// What the peer is told that it may send.
  var window: Int { max(0, softCapacity - used) }

  func hasRoom(for size: Int, isNext: Bool) -> Bool {
    used + size + FragmentList.overhead <= (isNext ? capacity : softCapacity)
  }

  /// Takes in a chunk that has not been received before.
  /// - Parameter position: its TSN as a number that does not wrap.
  mutating func insert(
    _ data: SCTPData, _ payload: Span<UInt8>, at position: Int64, into events: inout Ring<SCTPEvent>
  ) {
    if data.isBeginning, data.isEnd {
      guard payload.count <= maximumMessageSize else {
        events.append(.overlongMessage(data.stream))
        return deliver(Message(stream: data.stream, payloadProtocol: 0), data, into: &events)
      }
      let bytes = [UInt8](copying: payload)
      return deliver(
        Message(stream: data.stream, payloadProtocol: data.payloadProtocol, bytes: bytes), data, into: &events)
    }
    let insertion: FragmentList.Insertion
    if isInterleaved {
      let key = ListKey(stream: data.stream, isUnordered: data.isUnordered, number: data.messageNumber)
      insertion = lists[key, default: FragmentList()].insert(
        data, payload, at: Int64(data.fragmentNumber), limit: maximumMessageSize)
      if insertion.message != nil { lists[key] = nil }
    } else {
      insertion = fragments.insert(data, payload, at: position, limit: maximumMessageSize)
    }
    used += insertion.growth
    if insertion.isOverlong { events.append(.overlongMessage(data.stream)) }
    guard let message = insertion.message else { return }
    deliver(
      Message(stream: data.stream, payloadProtocol: message.payloadProtocol, bytes: message.bytes), data, into: &events)
  }

  /// A message has been taken over from the events.
  mutating func taken(_ bytes: Int) { used -= bytes + FragmentList.overhead }

  // MARK: Order

  private mutating func deliver(_ message: Message, _ data: SCTPData, into events: inout Ring<SCTPEvent>) {
    guard !data.isUnordered else { return hand(message, into: &events) }
    let index = makeStream(data.stream)
    let ahead = distance(data.messageNumber, from: streams[index].next)
    if ahead == 0 {
      hand(message, into: &events)
      streams[index].next = successor(data.messageNumber)
      return handWaiting(of: index, into: &events)
    }
    // One that was skipped, or comes twice.
    guard ahead > 0 else { return }
    let place = indexOfWaiting(index, atOrAfter: ahead)
    if place < streams[index].waiting.count, streams[index].waiting[place].number == data.messageNumber { return }
    used += message.cost
    streams[index].waiting.insert((data.messageNumber, message), at: place)
  }

  private mutating func hand(_ message: Message, into events: inout Ring<SCTPEvent>) {
    // An overlong one has been told of, and is nothing but a number in the order.
    guard let bytes = message.bytes else { return }
    used += message.cost
    events.append(.message(message.stream, message.payloadProtocol, bytes))
  }

  private mutating func handWaiting(of index: Int, into events: inout Ring<SCTPEvent>) {
    var count = 0
    while count < streams[index].waiting.count, streams[index].waiting[count].number == streams[index].next {
      let message = streams[index].waiting[count].message
      used -= message.cost
      hand(message, into: &events)
      streams[index].next = successor(streams[index].next)
      count += 1
    }
    if count > 0 { streams[index].waiting.removeFirst(count) }
  }

  private func indexOfWaiting(_ index: Int, atOrAfter ahead: Int) -> Int {
    let waiting = streams[index].waiting
    var (low, high) = (0, waiting.count)
    while low < high {
      let middle = (low + high) / 2
      if distance(waiting[middle].number, from: streams[index].next) >= ahead {
        high = middle
      } else {
        low = middle + 1
      }
    }
    return low
  }

  private mutating func makeStream(_ stream: StreamID) -> Int {
    while streams.count <= Int(stream.value) { streams.append(Stream()) }
    return Int(stream.value)
  }

  private func successor(_ number: UInt32) -> UInt32 { isInterleaved ? number &+ 1 : (number &+ 1) & 0xFFFF }

  /// How far `number` is ahead of another; negative: behind.
  private func distance(_ number: UInt32, from other: UInt32) -> Int {
    isInterleaved
      ? Int(Int32(bitPattern: number &- other))
      : Int(Int16(bitPattern: UInt16(truncatingIfNeeded: number &- other)))
  }

  // MARK: Skipping

  /// The peer has given up what it sent up to `position` (RFC 3758 §3.6, RFC 8260 §2.3.1).
  mutating func skip(
    _ forward: SCTPForwardTSN, to position: Int64, streamLimit: Int, into events: inout Ring<SCTPEvent>
  ) {
    if !isInterleaved { used -= fragments.remove(upTo: position) }
    var skipped: [UInt32: UInt32] = [:]
    for i in 0..<forward.skipCount {
      let skip = forward.skip(i)
      guard Int(skip.stream.value) < streamLimit else { continue }
      if !skip.isUnordered { skipOrdered(skip, into: &events) }
      let key = UInt32(skip.stream.value) << 1 | (skip.isUnordered ? 1 : 0)
      if let known = skipped[key], distance(skip.messageNumber, from: known) < 0 { continue }
      skipped[key] = skip.messageNumber
    }
    guard isInterleaved, !lists.isEmpty else { return }
    for (key, list) in lists {
      guard let last = skipped[UInt32(key.stream.value) << 1 | (key.isUnordered ? 1 : 0)],
        distance(key.number, from: last) <= 0
      else { continue }
      used -= list.cost
      lists[key] = nil
    }
  }

  /// Hands on the complete ones among those that are skipped, in their order.
  private mutating func skipOrdered(_ skip: SCTPForwardTSN.Skip, into events: inout Ring<SCTPEvent>) {
    let index = makeStream(skip.stream)
    let ahead = distance(skip.messageNumber, from: streams[index].next)
    guard ahead >= 0 else { return }
    var count = 0
    while count < streams[index].waiting.count,
      distance(streams[index].waiting[count].number, from: streams[index].next) <= ahead
    {
      used -= streams[index].waiting[count].message.cost
      hand(streams[index].waiting[count].message, into: &events)
      count += 1
    }
    if count > 0 { streams[index].waiting.removeFirst(count) }
    streams[index].next = successor(skip.messageNumber)
    handWaiting(of: index, into: &events)
  }

  // MARK: Resets

  /// Streams begin anew (RFC 6525 §5.2.2); none named: all of them.
  mutating func reset(_ reset: [StreamID]) {
    for stream in reset.isEmpty ? (0..<streams.count).map({ StreamID(UInt16($0)) }) : reset
    where Int(stream.value) < streams.count {
      let index = Int(stream.value)
      used -= streams[index].waiting.reduce(0) { $0 + $1.message.cost }
      streams[index] = Stream()
    }
  }
}
