import RTCPrimitives
import RTCWire

/// Sent chunks that are not acknowledged, in the order of their numbers (RFC 9260 §6.3, RFC 3758 §3.5).
struct RetransmissionQueue {
  enum ChunkState {
    case inFlight
    /// To be sent again.
    case lost
    /// Received, by a gap block; an earlier chunk is missing.
    case acknowledged
    /// Given up: to be skipped by FORWARD TSN.
    case abandoned
  }

  struct Chunk {
    var fragment: OutgoingFragment
    var state = ChunkState.inFlight
    /// How often it has been sent.
    var transmissions: UInt32 = 1
    /// How often others that were sent later have been acknowledged (RFC 9260 §7.2.4).
    var misses: UInt8 = 0
    /// An early copy has been sent: it may be what is acknowledged.
    var isCopied = false
    /// The time of the last transmission.
    var sentAt: Timestamp
    /// Bytes of the chunk in a packet.
    var size: Int
  }

  /// The result of an acknowledgement.
  struct Acknowledgement {
    var bytes = 0
    var isCumulativeAdvanced = false
    /// The round-trip time of a chunk without retransmission (Karn).
    var roundTrip: TimeDelta?
    var hasNewLosses = false
    /// When chunks that others have overtaken count as lost, unless they are acknowledged before.
    var reorderingDeadline: Timestamp?
    /// A fragment of each message that was given up; the caller drops their unsent rest.
    var abandoned: [OutgoingFragment] = []
  }

  /// RFC 9260 §7.2.4: lost when as many acknowledgements have passed it over.
  private static let missLimit: UInt8 = 3
  /// The maximum number of chunks in flight, which limits the cost of a SACK.
  static let maximumChunks = 8_192

  private(set) var chunks = Ring<Chunk>()
  /// The number of the next new chunk.
  private(set) var nextTSN: TSN
  private(set) var inFlightBytes = 0
  private(set) var lostCount = 0
  /// The number of chunks at the front that FORWARD TSN skips; some of them may have been received.
  private(set) var skipCount = 0
  /// The position where the search for lost chunks begins.
  private var firstLost = 0
  /// How far apart chunks must have been sent before one counts as lost for a later one's acknowledgement, in quarters of
  /// a round trip; grows when chunks prove to have been late.
  private var reorderingQuarters: Int64 = 1
  /// Whether chunks have arrived after later ones: the number of later arrivals is then no sign of loss (RFC 8985
  /// §6.2).
  private var isReordered = false
  /// The last chunk that has been acknowledged.
  private var highestAcknowledged: TSN
  /// When the latest chunk was sent that has been acknowledged.
  private var latestDelivered = Timestamp(nanoseconds: .min / 2)

  init(firstTSN: TSN) {
    nextTSN = firstTSN
    highestAcknowledged = firstTSN.advanced(by: -1)
  }

  var isEmpty: Bool { chunks.isEmpty }
  var isFull: Bool { chunks.count >= Self.maximumChunks }
  var cumulativeTSN: TSN { nextTSN.advanced(by: -chunks.count - 1) }
  var lastTSN: TSN { nextTSN.advanced(by: -1) }

  func tsn(of index: Int) -> TSN { nextTSN.advanced(by: index - chunks.count) }

  // MARK: Sending

  /// Appends a fragment that is sent now for the first time.
  mutating func append(_ fragment: OutgoingFragment, size: Int, now: Timestamp) {
    chunks.append(Chunk(fragment: fragment, sentAt: now, size: size))
    nextTSN = nextTSN.advanced(by: 1)
    inFlightBytes += size
  }

  /// The next chunk to be sent again.
  mutating func nextLost() -> Int? {
    guard lostCount > 0 else { return nil }
    while firstLost < chunks.count {
      if case .lost = chunks[firstLost].state { return firstLost }
      firstLost += 1
    }
    return nil
  }

  mutating func copied(_ index: Int) { chunks[index].isCopied = true }

  mutating func retransmitted(_ index: Int, now: Timestamp) {
    lostCount -= 1
    inFlightBytes += chunks[index].size
    chunks[index].state = .inFlight
    chunks[index].transmissions &+= 1
    chunks[index].misses = 0
    chunks[index].sentAt = now
  }

  /// Counts the last chunk in flight as lost, so that it is sent again: the probe for a lost tail (RFC 8985 §7).
  mutating func loseLast(now: Timestamp) -> Bool {
    guard let index = (0..<chunks.count).last(where: { if case .inFlight = chunks[$0].state { true } else { false } }),
      !isSpent(index, now: now)
    else { return false }
    lose(index)
    return true
  }

  // MARK: Acknowledgements

  /// Whether an acknowledgement up to `cumulative` is valid: neither older than the last nor of unsent chunks.
  func isValid(cumulative: TSN) -> Bool {
    let distance = cumulative.distance(from: cumulativeTSN)
    return distance >= 0 && distance <= chunks.count
  }

  /// - Parameter hasSentCopies: chunks that arrived twice may be early copies, and are no sign of lateness.
  mutating func handle(
    _ ack: SCTPSelectiveAck, isInRecovery: Bool, roundTrip: TimeDelta?, hasSentCopies: Bool, now: Timestamp
  ) -> Acknowledgement {
    var result = Acknowledgement()
    var latest = Timestamp(nanoseconds: .min / 2)
    acknowledge(upTo: ack.cumulativeTSN, now: now, into: &result, latest: &latest)
    if ack.duplicateCount > 0, !hasSentCopies { reorderingQuarters = min(4, reorderingQuarters + 1) }
    latestDelivered = max(latestDelivered, latest)
    guard ack.gapBlockCount > 0 else { return result }
    let highest = acknowledgeGaps(ack, now: now, into: &result, latest: &latest)
    // In recovery, a cumulative acknowledgement that advances counts against all chunks reported missing (§7.2.4).
    let limit = isInRecovery && result.isCumulativeAdvanced ? highest.reported : highest.new
    let roundTrip = roundTrip ?? .milliseconds(100)
    let window = reorderingWindow(roundTrip)
    markLosses(below: limit, sentBefore: latest - window, now: now, into: &result)
    latestDelivered = max(latestDelivered, latest)
    result.reorderingDeadline = firstOvertaken().map { max(now + .milliseconds(1), $0 + patience(roundTrip)) }
    return result
  }

  private func reorderingWindow(_ roundTrip: TimeDelta) -> TimeDelta {
    max(.milliseconds(1), roundTrip * reorderingQuarters / 4)
  }

  /// How long after its transmission an overtaken chunk counts as lost.
  private func patience(_ roundTrip: TimeDelta) -> TimeDelta {
    // Where packets overtake each other, acknowledgements do so too.
    roundTrip + (isReordered ? roundTrip : reorderingWindow(roundTrip))
  }

  /// Whether a chunk counts as in flight although one that was sent later has arrived.
  private func isOvertaken(_ index: Int) -> Bool {
    guard case .inFlight = chunks[index].state else { return false }
    return chunks[index].sentAt <= latestDelivered
  }

  /// The number of chunks before the last that has been acknowledged.
  private var overtakable: Int {
    min(chunks.count, max(0, highestAcknowledged.distance(from: cumulativeTSN) - 1))
  }

  /// When the earliest overtaken chunk was sent.
  private func firstOvertaken() -> Timestamp? {
    var first: Timestamp?
    for index in 0..<overtakable where isOvertaken(index) {
      first = min(first ?? .distantFuture, chunks[index].sentAt)
    }
    return first
  }

  /// The reordering timer (RFC 8985 §6.3): overtaken chunks of which nothing was heard in a round trip and the reordering
  /// window count as lost.
  mutating func loseOvertaken(roundTrip: TimeDelta, now: Timestamp) -> Acknowledgement {
    var result = Acknowledgement()
    let patience = self.patience(roundTrip)
    for index in 0..<overtakable where isOvertaken(index) && chunks[index].sentAt + patience <= now {
      lose(index)
      result.hasNewLosses = true
      abandonIfDue(index, now: now, into: &result.abandoned)
    }
    result.reorderingDeadline = firstOvertaken().map { max(now + .milliseconds(1), $0 + patience) }
    return result
  }

  /// The cumulative part, also of SHUTDOWN.
  mutating func acknowledge(upTo cumulative: TSN, now: Timestamp, into result: inout Acknowledgement) {
    var latest = Timestamp(nanoseconds: .min / 2)
    acknowledge(upTo: cumulative, now: now, into: &result, latest: &latest)
  }

  private mutating func acknowledge(
    upTo cumulative: TSN, now: Timestamp, into result: inout Acknowledgement, latest: inout Timestamp
  ) {
    let count = cumulative.distance(from: cumulativeTSN)
    guard count > 0 else { return }
    result.isCumulativeAdvanced = true
    for _ in 0..<count {
      let tsn = tsn(of: 0)
      let chunk = chunks.removeFirst()
      switch chunk.state {
      case .inFlight:
        inFlightBytes -= chunk.size
        note(chunk, tsn, now: now, into: &result, latest: &latest)
      case .lost:
        lostCount -= 1
        result.bytes += chunk.size
      case .acknowledged, .abandoned: break
      }
    }
    firstLost = max(0, firstLost - count)
    skipCount = max(0, skipCount - count)
  }

  /// Goes through the gap blocks in their order; what goes back is passed over, so that the cost is linear.
  /// - Returns: up to which index chunks were newly acknowledged, and up to which any were reported.
  private mutating func acknowledgeGaps(
    _ ack: SCTPSelectiveAck, now: Timestamp, into result: inout Acknowledgement, latest: inout Timestamp
  ) -> (new: Int, reported: Int) {
    var next = 0
    var newest = -1
    var reported = -1
    for i in 0..<ack.gapBlockCount {
      let block = ack.gapBlock(i)
      // Distance 1 is the chunk at the front.
      let first = max(next, Int(block.start) - 1)
      let end = min(Int(block.end), chunks.count)
      guard first < end else { continue }
      for index in first..<end {
        switch chunks[index].state {
        case .inFlight: inFlightBytes -= chunks[index].size
        case .lost: lostCount -= 1
        case .acknowledged, .abandoned: continue
        }
        note(chunks[index], tsn(of: index), now: now, into: &result, latest: &latest)
        // The data stays until the cumulative acknowledgement: the peer may still drop it.
        chunks[index].state = .acknowledged
        newest = index
      }
      next = end
      reported = end - 1
    }
    return (newest, reported)
  }

  private mutating func note(
    _ chunk: Chunk, _ tsn: TSN, now: Timestamp, into result: inout Acknowledgement, latest: inout Timestamp
  ) {
    result.bytes += chunk.size
    guard chunk.transmissions == 1 else { return }
    // One acknowledgement names its chunks in their order.
    if tsn.isNewer(than: highestAcknowledged) {
      highestAcknowledged = tsn
    } else if !chunk.isCopied {
      isReordered = true
    }
    result.roundTrip = now - chunk.sentAt
    latest = max(latest, chunk.sentAt)
  }

  /// Counts chunks as lost that are passed over for the third time, or that were sent so much earlier than one that has
  /// arrived (RFC 8985 §6.2); the latter finds lost retransmissions too.
  private mutating func markLosses(
    below limit: Int, sentBefore: Timestamp, now: Timestamp, into result: inout Acknowledgement
  ) {
    guard limit > 0 else { return }
    for index in 0..<limit {
      guard case .inFlight = chunks[index].state else { continue }
      if chunks[index].transmissions == 1 { chunks[index].misses = min(Self.missLimit, chunks[index].misses + 1) }
      let isPassed = chunks[index].misses >= Self.missLimit && !isReordered
      guard isPassed || chunks[index].sentAt < sentBefore else { continue }
      lose(index)
      result.hasNewLosses = true
      abandonIfDue(index, now: now, into: &result.abandoned)
    }
  }

  // MARK: Losses

  private mutating func lose(_ index: Int) {
    inFlightBytes -= chunks[index].size
    lostCount += 1
    chunks[index].state = .lost
    firstLost = min(firstLost, index)
  }

  /// No acknowledgement arrived in time: all chunks count as lost (RFC 9260 §6.3.3).
  /// - Parameter forgetsGaps: also chunks acknowledged by gap blocks, in case the peer has dropped them (RFC 9260
  ///   §6.2.1 D iii).
  /// - Returns: a fragment of each message that was given up.
  mutating func loseAll(forgetsGaps: Bool, now: Timestamp) -> [OutgoingFragment] {
    var abandoned: [OutgoingFragment] = []
    for index in 0..<chunks.count {
      switch chunks[index].state {
      case .inFlight: lose(index)
      case .acknowledged where forgetsGaps:
        inFlightBytes += chunks[index].size
        lose(index)
      case .lost, .acknowledged, .abandoned: break
      }
      if case .lost = chunks[index].state { abandonIfDue(index, now: now, into: &abandoned) }
    }
    return abandoned
  }

  /// True when the chunk may not be sent again (RFC 7496 §3).
  private func isSpent(_ index: Int, now: Timestamp) -> Bool {
    let fragment = chunks[index].fragment
    return chunks[index].transmissions > fragment.maximumRetransmissions || fragment.expiry <= now
  }

  private mutating func abandonIfDue(_ index: Int, now: Timestamp, into abandoned: inout [OutgoingFragment]) {
    guard isSpent(index, now: now) else { return }
    abandoned.append(chunks[index].fragment)
    abandon(around: index)
  }

  /// Gives up the message of a chunk, from its first fragment to the last that has been sent.
  private mutating func abandon(around index: Int) {
    let id = chunks[index].fragment.messageID
    var first = index
    while first > 0, !(chunks[first].fragment.messageID == id && chunks[first].fragment.isBeginning) { first -= 1 }
    for i in first..<chunks.count where chunks[i].fragment.messageID == id {
      setAbandoned(i)
      if chunks[i].fragment.isEnd { break }
    }
    advanceSkip()
  }

  /// Gives up a message whose rest will not be sent. It takes a number that is never sent, so that there is something to
  /// skip even if all its fragments have been acknowledged.
  mutating func abandonUnfinished(
    messageID: UInt64, stream: StreamID, isUnordered: Bool, messageNumber: UInt32, now: Timestamp
  ) {
    let end = OutgoingFragment(
      message: [], range: 0..<0, stream: stream, isUnordered: isUnordered, isEnd: true, messageNumber: messageNumber,
      fragmentNumber: .max, payloadProtocol: 0, messageID: messageID, maximumRetransmissions: 0, expiry: now)
    append(end, size: 0, now: now)
    abandon(around: chunks.count - 1)
  }

  private mutating func setAbandoned(_ index: Int) {
    switch chunks[index].state {
    case .inFlight: inFlightBytes -= chunks[index].size
    case .lost: lostCount -= 1
    case .acknowledged, .abandoned: break
    }
    chunks[index].state = .abandoned
    chunks[index].fragment.message = []
  }

  // MARK: Skipping

  /// Moves the Advanced Peer Ack Point (RFC 3758 §3.5 C1).
  private mutating func advanceSkip() {
    var index = skipCount
    while index < chunks.count {
      switch chunks[index].state {
      case .abandoned: skipCount = index + 1
      case .acknowledged: break
      case .inFlight, .lost: return
      }
      index += 1
    }
  }

  /// Advances the skipped range after acknowledgements within it.
  mutating func updateSkip() { advanceSkip() }

  /// The contents of FORWARD TSN: its number and the affected streams, as far as `maximumSkips` entries suffice.
  func forward(maximumSkips: Int, isInterleaved: Bool) -> (tsn: TSN, skips: [SCTPForwardTSN.Skip])? {
    guard skipCount > 0 else { return nil }
    var positions: [UInt32: Int] = [:]
    var skips: [SCTPForwardTSN.Skip] = []
    var covered = 0
    for index in 0..<skipCount {
      let fragment = chunks[index].fragment
      if case .abandoned = chunks[index].state, isInterleaved || !fragment.isUnordered {
        let key = UInt32(fragment.stream.value) << 1 | (fragment.isUnordered ? 1 : 0)
        if let position = positions[key] {
          skips[position].messageNumber = fragment.messageNumber
        } else {
          guard skips.count < maximumSkips else { break }
          positions[key] = skips.count
          skips.append(
            SCTPForwardTSN.Skip(
              stream: fragment.stream, isUnordered: fragment.isUnordered, messageNumber: fragment.messageNumber))
        }
      }
      covered = index + 1
    }
    return covered == 0 ? nil : (tsn(of: covered - 1), skips)
  }
}
