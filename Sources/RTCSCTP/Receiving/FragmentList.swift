import RTCPrimitives
import RTCWire

/// Fragments that wait for the rest of their messages, in the order of their numbers: of one message, or of all
/// messages in one sequence.
///
/// Consecutive fragments form a run, which is found by either end. The cost of a fragment is therefore independent of
/// the number of waiting ones, and a message is assembled only once, when its run has a beginning and an end.
struct FragmentList {
  /// The result of inserting a fragment.
  struct Insertion {
    /// The change of the kept bytes.
    var growth = 0
    /// The message that is complete now.
    var message: (payloadProtocol: UInt32, bytes: [UInt8]?)?
    /// A message has just become longer than allowed; it is dropped, and its end will still be seen.
    var isOverlong = false
    /// How many fragments and runs were looked at.
    var steps = 0
  }

  /// Bytes of fragments that came one after the other.
  private struct Part {
    var last: Int64
    var bytes: [UInt8]
    var cost: Int { FragmentList.overhead + bytes.count }
  }

  /// Fragments of one message that follow each other without a gap.
  private struct Run {
    var last: Int64
    /// The beginning of its last part.
    var lastPart: Int64
    var begins: Bool
    var ends: Bool
    let key: MessageKey
    var payloadProtocol: UInt32
    /// Bytes of the fragments.
    var size: Int
    /// The message is longer than allowed, and its parts are empty.
    var isOverlong = false

    func isContinued(_ begins: Bool, _ key: MessageKey) -> Bool { !ends && !begins && self.key == key }
  }

  /// The approximate cost of keeping a part, in addition to its bytes.
  static let overhead = 96

  /// By where they begin.
  private var parts: [Int64: Part] = [:]
  /// By where they begin.
  private var runs: [Int64: Run] = [:]
  /// The start of each run, by its end.
  private var starts: [Int64: Int64] = [:]
  /// Messages up to here were removed.
  private var removed: Int64 = 0
  /// Bytes that it keeps.
  private(set) var cost = 0
  private var steps = 0
  /// How many runs and parts `remove` looked at.
  private(set) var removalSteps = 0

  var isEmpty: Bool { runs.isEmpty }

  /// Puts in a fragment. One whose place is taken changes nothing.
  /// - Parameters:
  ///   - position: of the fragment in the sequence.
  ///   - limit: the longest message taken.
  mutating func insert(_ data: SCTPData, _ payload: Span<UInt8>, at position: Int64, limit: Int) -> Insertion {
    let stepsBefore = steps
    steps += 1
    var result = Insertion(steps: 1)
    guard parts[position] == nil, starts[position] == nil else { return result }
    let before = cost
    let start = add(data, payload, at: position)
    joinNext(to: start)
    result.isOverlong = dropIfOverlong(start, limit: limit)
    if let run = runs[start], run.begins, run.ends {
      result.message = (run.payloadProtocol, run.isOverlong ? nil : joined(start, run))
      drop(start, run)
    }
    result.growth = cost - before
    result.steps = steps - stepsBefore
    return result
  }

  /// Adds a fragment to the run before it, or as a run of its own.
  /// - Returns: the start of the run.
  private mutating func add(_ data: SCTPData, _ payload: Span<UInt8>, at position: Int64) -> Int64 {
    let key = MessageKey(data)
    if let start = starts[position - 1], let run = runs[start], run.isContinued(data.isBeginning, key) {
      if !run.isOverlong {
        parts[run.lastPart]?.bytes.append(payload)
        cost += payload.count
      }
      parts[run.lastPart]?.last = position
      runs[start]?.last = position
      runs[start]?.ends = data.isEnd
      runs[start]?.size += payload.count
      starts[position - 1] = nil
      starts[position] = start
      return start
    }
    let part = Part(last: position, bytes: [UInt8](copying: payload))
    cost += part.cost
    parts[position] = part
    runs[position] = Run(
      last: position, lastPart: position, begins: data.isBeginning, ends: data.isEnd, key: key,
      payloadProtocol: data.payloadProtocol, size: payload.count)
    starts[position] = position
    return position
  }

  /// Joins a run with the one directly behind it.
  private mutating func joinNext(to start: Int64) {
    guard let run = runs[start], let next = runs[run.last + 1], run.isContinued(next.begins, next.key) else { return }
    var whole = run
    whole.last = next.last
    whole.lastPart = next.lastPart
    whole.ends = next.ends
    whole.size += next.size
    if run.isOverlong, !next.isOverlong {
      empty(run.last + 1, through: next.last)
      whole.lastPart = run.last + 1
    } else if next.isOverlong, !run.isOverlong {
      empty(start, through: run.last)
    }
    whole.isOverlong = run.isOverlong || next.isOverlong
    runs[run.last + 1] = nil
    runs[start] = whole
    starts[run.last] = nil
    starts[next.last] = start
  }

  /// Releases the bytes of a message that is longer than allowed.
  /// - Returns: whether it has just become too long.
  private mutating func dropIfOverlong(_ start: Int64, limit: Int) -> Bool {
    guard let run = runs[start], !run.isOverlong, run.size > limit else { return false }
    empty(start, through: run.last)
    runs[start]?.lastPart = start
    runs[start]?.isOverlong = true
    return true
  }

  /// Makes one empty part of those in a range.
  private mutating func empty(_ start: Int64, through last: Int64) {
    forEachPart(from: start, through: last) { list, place, part in
      list.cost -= part.cost
      list.parts[place] = nil
    }
    let part = Part(last: last, bytes: [])
    parts[start] = part
    cost += part.cost
  }

  private mutating func joined(_ start: Int64, _ run: Run) -> [UInt8] {
    if start == run.lastPart, let part = parts[start] { return part.bytes }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(run.size)
    forEachPart(from: start, through: run.last) { _, _, part in bytes.append(contentsOf: part.bytes) }
    return bytes
  }

  /// Drops what begins at or before a place.
  /// - Returns: the bytes that this frees.
  mutating func remove(upTo position: Int64) -> Int {
    guard position > removed else { return 0 }
    let before = cost
    let stepsBefore = steps
    defer { removalSteps += steps - stepsBefore }
    // Runs begin behind the last removed position: search those positions, or all runs if they are fewer.
    let places =
      position - removed < Int64(runs.count)
      ? Array(removed + 1...position) : runs.keys.filter { $0 <= position }
    steps += min(Int(position - removed), runs.count)
    for place in places {
      if let run = runs[place] { drop(place, run) }
    }
    removed = position
    return before - cost
  }

  private mutating func drop(_ start: Int64, _ run: Run) {
    forEachPart(from: start, through: run.last) { list, place, part in
      list.cost -= part.cost
      list.parts[place] = nil
    }
    runs[start] = nil
    starts[run.last] = nil
  }

  private mutating func forEachPart(
    from start: Int64, through last: Int64, _ body: (inout FragmentList, Int64, Part) -> Void
  ) {
    var place = start
    while place <= last, let part = parts[place] {
      steps += 1
      body(&self, place, part)
      place = part.last + 1
    }
  }
}

/// Identifies messages: of I-DATA all, of DATA the ordered ones.
struct MessageKey: Hashable {
  var stream: StreamID
  var isUnordered: Bool
  var number: UInt32

  init(stream: StreamID, isUnordered: Bool, number: UInt32) {
    self.stream = stream
    self.isUnordered = isUnordered
    // The number of unordered messages means nothing in DATA; I-DATA has lists by key, in which all numbers are alike.
    self.number = isUnordered ? 0 : number
  }

  init(_ data: SCTPData) {
    self.init(stream: data.stream, isUnordered: data.isUnordered, number: data.messageNumber)
  }
}
