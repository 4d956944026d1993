import RTCEngine
import RTCPrimitives
import RTCSignaling

/// An error in a line of a rate log: half a sentence, such as `target_bps is missing`.
package struct RateLogLineError: Error, Hashable, Sendable {
  package var problem: String

  package init(problem: String) { self.problem = problem }
}

extension RateLogLine {
  /// Parses a line of untrusted input; invalid lines are refused. Returns nil for an event of a later version.
  package static func parse(_ bytes: [UInt8]) throws(RateLogLineError) -> RateLogLine? {
    let fields = try RateLogFields(bytes)
    let connection = try fields.optionalText("viewer") ?? ""
    guard let content = try content(fields) else { return nil }
    if case .dropped = content {} else if connection.isEmpty { throw fields.isMissing("viewer") }
    return RateLogLine(
      time: Timestamp(nanoseconds: try fields.time("t_ms").nanoseconds), connection: connection, content: content)
  }

  private static func content(_ fields: RateLogFields) throws(RateLogLineError) -> Content? {
    switch try fields.text("event") {
    case "opened":
      guard let algorithm = RateControlAlgorithm(rawValue: try fields.text("rate_control")) else {
        throw fields.isWrong("rate_control")
      }
      return .opened(algorithm, try limits(fields), origin: try fields.whole("origin_s", 0...1 << 32))
    case "dropped": return .dropped(try fields.whole("entries", 0...Int64.max))
    case "started": return .entry(.started(try limits(fields)))
    case "limits": return .entry(.limits(try limits(fields)))
    case "feedback": return .entry(.feedback(try packets(fields), try activity(fields)))
    case "loss":
      let expected: Int = try fields.whole("expected", 0...1 << 32)
      return .entry(.loss(expected: expected, lost: try fields.whole("lost", 0...Int64(expected))))
    case "rtt": return .entry(.roundTrip(try fields.duration("rtt_ms")))
    case "remote_maximum": return .entry(.remoteMaximum(try fields.optionalRate("rate_bps")))
    case "route_changed": return .entry(.routeChanged)
    case "deadline": return .entry(.deadline(try activity(fields)))
    case "estimate": return .entry(.estimate(try estimate(fields)))
    case "probe": return .entry(.probe(try probe(fields)))
    default: return nil
    }
  }

  private static func limits(_ fields: RateLogFields) throws(RateLogLineError) -> BitrateLimits {
    var limits = BitrateLimits()
    limits.minimum = try fields.rate("minimum_bps")
    limits.maximum = try fields.rate("maximum_bps")
    limits.start = try fields.rate("start_bps")
    limits.stepUp = try fields.fraction("step_up")
    limits.stepDown = try fields.fraction("step_down")
    limits.criticalStepDown = try fields.fraction("critical_step_down")
    limits.criticalLoss = try fields.fraction("critical_loss")
    limits.highLoss = try fields.fraction("high_loss")
    limits.lowLoss = try fields.fraction("low_loss")
    guard limits.minimum <= limits.maximum else { throw fields.isWrong("minimum_bps") }
    return limits
  }

  private static func activity(_ fields: RateLogFields) throws(RateLogLineError) -> SendActivity {
    var activity = SendActivity()
    activity.sentBytes = try fields.whole("sent_bytes", 0...1 << 50)
    activity.inFlight = try fields.whole("in_flight_bytes", 0...1 << 40)
    activity.queued = try fields.whole("queued_bytes", 0...1 << 40)
    activity.lastSent = Timestamp(nanoseconds: try fields.time("last_sent_ms").nanoseconds)
    return activity
  }

  private static func probe(_ fields: RateLogFields) throws(RateLogLineError) -> ProbeCluster {
    var probe = ProbeCluster(id: try fields.whole("id", 0...0xFFFF), rate: try fields.rate("rate_bps"))
    probe.minimumPackets = try fields.whole("minimum_packets", 0...1 << 20)
    probe.minimumBytes = try fields.whole("minimum_bytes", 0...1 << 40)
    return probe
  }

  private static func estimate(_ fields: RateLogFields) throws(RateLogLineError) -> NetworkEstimate {
    var estimate = NetworkEstimate(
      target: try fields.rate("target_bps"), pacingRate: try fields.rate("pacing_bps"),
      burst: try fields.whole("burst_bytes", 0...1 << 40))
    guard let reason = NetworkEstimate.Reason(rawValue: try fields.text("reason")) else {
      throw fields.isWrong("reason")
    }
    estimate.reason = reason
    estimate.window = try fields.isNull("window_bytes") ? nil : fields.whole("window_bytes", 0...1 << 40)
    estimate.loss = try fields.fraction("loss")
    estimate.queueingDelay = try fields.isNull("queueing_delay_ms") ? nil : fields.time("queueing_delay_ms")
    estimate.roundTripTime = try fields.isNull("rtt_ms") ? nil : fields.duration("rtt_ms")
    estimate.delayBased = try fields.optionalRate("delay_based_bps")
    estimate.lossBased = try fields.optionalRate("loss_based_bps")
    estimate.acknowledged = try fields.optionalRate("acknowledged_bps")
    estimate.remoteMaximum = try fields.optionalRate("remote_maximum_bps")
    return estimate
  }

  private static func packets(_ fields: RateLogFields) throws(RateLogLineError) -> [PacketResult] {
    let lists = try fields.list("packets")
    var results: [PacketResult] = []
    results.reserveCapacity(lists.count)
    for list in lists {
      guard let result = Self.result(list), result.packet.number > results.last?.packet.number ?? .min else {
        throw fields.isWrong("packets[\(results.count)]")
      }
      results.append(result)
    }
    guard !results.isEmpty else { throw fields.isWrong("packets") }
    return results
  }

  private static func result(_ tree: JSONTree) -> PacketResult? {
    guard case .array(let parts) = tree.value, (5...7).contains(parts.count),
      let number = parts[0].whole(-(1 << 48)...1 << 48), let sent = parts[1].time,
      let size = parts[2].whole(0...0xFFFF), case .string(let word) = parts[3].value,
      let kind = SentPacket.Kind.all.first(where: { $0.word == word })
    else { return nil }
    var result = PacketResult(
      packet: SentPacket(
        number: number, sendTime: Timestamp(nanoseconds: sent.nanoseconds), size: Int(size), kind: kind),
      arrival: parts[4].time)
    if result.arrival == nil, !parts[4].isNull { return nil }
    if parts.count > 5, !parts[5].isNull {
      guard let probe = parts[5].whole(0...0xFFFF) else { return nil }
      result.packet.probe = UInt16(probe)
    }
    if parts.count > 6 {
      guard case .bool(let isLate) = parts[6].value else { return nil }
      result.wasReportedLost = isLate
    }
    return result
  }
}

/// The members of a line, taken by name and kind.
private struct RateLogFields {
  private let members: [String: JSONTree]

  init(_ bytes: [UInt8]) throws(RateLogLineError) {
    let tree: JSONTree
    do throws(JSONError) { tree = try JSONTree(parsing: bytes) } catch {
      throw RateLogLineError(problem: "it is not JSON: \(error.problem)")
    }
    guard case .object(let members) = tree.value else {
      throw RateLogLineError(problem: "it is no object, but \(tree.kind)")
    }
    self.members = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  func isMissing(_ name: String) -> RateLogLineError { RateLogLineError(problem: "\(name) is missing") }
  func isWrong(_ name: String) -> RateLogLineError { RateLogLineError(problem: "\(name) is not what it can be") }

  private func member(_ name: String) throws(RateLogLineError) -> JSONTree {
    guard let tree = members[name] else { throw isMissing(name) }
    return tree
  }

  func isNull(_ name: String) throws(RateLogLineError) -> Bool { try member(name).isNull }

  func text(_ name: String) throws(RateLogLineError) -> String {
    guard case .string(let text) = try member(name).value, text.utf8.count <= 200 else { throw isWrong(name) }
    return text
  }

  func optionalText(_ name: String) throws(RateLogLineError) -> String? { members[name] == nil ? nil : try text(name) }

  func list(_ name: String) throws(RateLogLineError) -> [JSONTree] {
    guard case .array(let list) = try member(name).value else { throw isWrong(name) }
    return list
  }

  func whole<T: FixedWidthInteger>(_ name: String, _ range: ClosedRange<Int64>) throws(RateLogLineError) -> T {
    guard let value = try member(name).whole(range), let result = T(exactly: value) else { throw isWrong(name) }
    return result
  }

  func time(_ name: String) throws(RateLogLineError) -> TimeDelta {
    guard let time = try member(name).time else { throw isWrong(name) }
    return time
  }

  /// A time that is not negative.
  func duration(_ name: String) throws(RateLogLineError) -> TimeDelta {
    let time = try time(name)
    guard time >= .zero else { throw isWrong(name) }
    return time
  }

  func rate(_ name: String) throws(RateLogLineError) -> BitRate {
    BitRate(bitsPerSecond: try whole(name, 0...1_000_000_000_000))
  }

  func optionalRate(_ name: String) throws(RateLogLineError) -> BitRate? { try isNull(name) ? nil : rate(name) }

  func fraction(_ name: String) throws(RateLogLineError) -> Double {
    guard case .number(let value) = try member(name).value, (0...1).contains(value) else { throw isWrong(name) }
    return value
  }
}

extension JSONTree {
  fileprivate var isNull: Bool { if case .null = value { true } else { false } }

  fileprivate func whole(_ range: ClosedRange<Int64>) -> Int64? {
    guard case .number(let number) = value, let whole = Int64(exactly: number), range.contains(whole) else {
      return nil
    }
    return whole
  }

  /// Milliseconds to the nanosecond; in more than 100 days a number has no room for those.
  fileprivate var time: TimeDelta? {
    guard case .number(let number) = value, abs(number) <= 8_640_000_000 else { return nil }
    return TimeDelta(nanoseconds: Int64((number * 1_000_000).rounded()))
  }
}
