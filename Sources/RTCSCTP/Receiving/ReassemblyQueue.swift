import RTCPrimitives
import RTCWire

/// Assembles messages from chunks, and delivers the ordered ones of a stream in order (RFC 9260 §6.5, §6.6; RFC 8260
/// §2.2.3).
///
/// Its memory is limited; a chunk without room counts as lost.
struct ReassemblyQueue {
  private struct Stream {
    /// The ordered message that is delivered next.
    var next: UInt32 = 0
    /// Complete ones that come after it, by their numbers.
    var waiting: [UInt32: Message] = [:]
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

    init(_ data: SCTPData) {
      (stream, isUnordered, number) = (data.stream, data.isUnordered, data.messageNumber)
    }
  }

  /// The maximum number of incomplete messages of I-DATA. Peers send one at a time in each of 1,024 streams, ordered
  /// and unordered; FORWARD TSN costs a pass over all of them.
  static let maximumLists = 2_048
  /// How far ahead of the next one an ordered message may be: as far as TSNs may (`DataTracker`).
  private static let maximumDistance = 65_535

  /// The longest message taken.
  let maximumMessageSize: Int
  /// Bytes that it keeps at most, messages included that have not been taken over yet.
  let capacity: Int
  let isInterleaved: Bool
  private(set) var used = 0
  /// Steps of putting fragments together, for tests.
  private(set) var steps = 0
  private var streams: [Stream] = []
  /// DATA: all fragments, by TSN.
  private var fragments = FragmentList()
  /// I-DATA: the fragments of each message, by fragment number.
  private var lists: [ListKey: FragmentList] = [:]

  init(maximumMessageSize: Int, capacity: Int, isInterleaved: Bool) {
    self.maximumMessageSize = maximumMessageSize
    self.capacity = capacity
    self.isInterleaved = isInterleaved
  }

  /// The last eighth is kept for chunks that fill gaps: without them nothing moves on.
  private var softCapacity: Int { capacity - capacity / 8 }
  /// The window advertised to the peer.
  var window: Int { max(0, softCapacity - used) }

  /// - Parameter size: of the chunk's payload.
  func hasRoom(for data: SCTPData, size: Int, isNext: Bool) -> Bool {
    if isInterleaved, !(data.isBeginning && data.isEnd), lists.count >= Self.maximumLists, lists[ListKey(data)] == nil {
      return false
    }
    return used + size + FragmentList.overhead <= (isNext ? capacity : softCapacity)
  }

  /// Inserts a chunk that was not received before.
  /// - Parameter position: its TSN as a number that does not wrap.
  mutating func insert(
    _ data: SCTPData, _ payload: Span<UInt8>, at position: Int64, into events: inout Ring<SCTPEvent>
  ) {
    if data.isBeginning, data.isEnd {
      guard payload.count <= maximumMessageSize else {
        refuse(data.stream, into: &events)
        return deliver(Message(stream: data.stream, payloadProtocol: 0), data, into: &events)
      }
      let bytes = [UInt8](copying: payload)
      return deliver(
        Message(stream: data.stream, payloadProtocol: data.payloadProtocol, bytes: bytes), data, into: &events)
    }
    let insertion: FragmentList.Insertion
    if isInterleaved {
      let key = ListKey(data)
      insertion = lists[key, default: FragmentList()].insert(
        data, payload, at: Int64(data.fragmentNumber), limit: maximumMessageSize)
      // Fragments behind the end may be left.
      if insertion.message != nil { used -= lists.removeValue(forKey: key)?.cost ?? 0 }
    } else {
      insertion = fragments.insert(data, payload, at: position, limit: maximumMessageSize)
    }
    used += insertion.growth
    steps += insertion.steps
    if insertion.isOverlong { refuse(data.stream, into: &events) }
    guard let message = insertion.message else { return }
    deliver(
      Message(stream: data.stream, payloadProtocol: message.payloadProtocol, bytes: message.bytes), data, into: &events)
  }

  /// Reports a message that is longer than allowed. The event counts as memory until it is taken, since a peer can
  /// cause any number of them.
  private mutating func refuse(_ stream: StreamID, into events: inout Ring<SCTPEvent>) {
    used += FragmentList.overhead
    events.append(.overlongMessage(stream))
  }

  /// A message, or the word of an overlong one (0 bytes), has been taken over from the events.
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
    // It was skipped, is a duplicate, or cannot have been sent yet.
    guard ahead > 0, ahead <= Self.maximumDistance, streams[index].waiting[data.messageNumber] == nil else { return }
    used += message.cost
    streams[index].waiting[data.messageNumber] = message
  }

  private mutating func hand(_ message: Message, into events: inout Ring<SCTPEvent>) {
    // An overlong message was reported already, and only keeps its number in the order.
    guard let bytes = message.bytes else { return }
    used += message.cost
    events.append(.message(message.stream, message.payloadProtocol, bytes))
  }

  private mutating func handWaiting(of index: Int, into events: inout Ring<SCTPEvent>) {
    while let message = streams[index].waiting.removeValue(forKey: streams[index].next) {
      used -= message.cost
      hand(message, into: &events)
      streams[index].next = successor(streams[index].next)
    }
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

  /// The peer has given up all chunks up to `position` (RFC 3758 §3.6, RFC 8260 §2.3.1).
  mutating func skip(
    _ forward: SCTPForwardTSN, to position: Int64, streamLimit: Int, into events: inout Ring<SCTPEvent>
  ) {
    if !isInterleaved {
      let before = fragments.removalSteps
      used -= fragments.remove(upTo: position)
      steps += fragments.removalSteps - before
    }
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
    steps += lists.count
    for (key, list) in lists {
      guard let last = skipped[UInt32(key.stream.value) << 1 | (key.isUnordered ? 1 : 0)],
        distance(key.number, from: last) <= 0
      else { continue }
      used -= list.cost
      lists[key] = nil
    }
  }

  /// Delivers the complete messages among the skipped ones, in order.
  private mutating func skipOrdered(_ skip: SCTPForwardTSN.Skip, into events: inout Ring<SCTPEvent>) {
    let index = makeStream(skip.stream)
    let next = streams[index].next
    let ahead = distance(skip.messageNumber, from: next)
    guard ahead >= 0 else { return }
    // Search either the skipped numbers, or all waiting ones if they are fewer.
    let numbers: [UInt32]
    if ahead < streams[index].waiting.count {
      numbers = (0...ahead).map { isInterleaved ? next &+ UInt32($0) : (next &+ UInt32($0)) & 0xFFFF }
    } else {
      numbers = streams[index].waiting.keys.filter { distance($0, from: next) <= ahead }
        .sorted { distance($0, from: next) < distance($1, from: next) }
    }
    steps += min(ahead, streams[index].waiting.count)
    for number in numbers {
      guard let message = streams[index].waiting.removeValue(forKey: number) else { continue }
      used -= message.cost
      hand(message, into: &events)
    }
    streams[index].next = successor(skip.messageNumber)
    handWaiting(of: index, into: &events)
  }

  // MARK: Resets

  /// Resets streams (RFC 6525 §5.2.2); an empty list: all of them.
  mutating func reset(_ reset: [StreamID]) {
    for stream in reset.isEmpty ? (0..<streams.count).map({ StreamID(UInt16($0)) }) : reset
    where Int(stream.value) < streams.count {
      let index = Int(stream.value)
      used -= streams[index].waiting.values.reduce(0) { $0 + $1.cost }
      streams[index] = Stream()
    }
  }
}
