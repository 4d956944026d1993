package import RTCEngine
package import RTCPrimitives
import RTCSignaling

/// One line of a rate log, a JSON object; docs/rtc-log.md describes them.
package struct RateLogLine: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    /// A connection begins: how its estimator is made. All times are counted from `origin`, in whole seconds of the clock.
    case opened(RateControlAlgorithm, BitrateLimits, origin: Int64)
    /// An input or a decision of an estimator.
    case entry(RateLogEntry)
    /// The number of entries, of all connections, that are missing here because they came faster than they could be
    /// written.
    case dropped(Int)
  }

  /// Since the log began; so are all times of packets.
  package var time: Timestamp
  /// Names the connection, as in statistics and events; empty in a line that is of none.
  package var connection: String
  package var content: Content

  package init(time: Timestamp, connection: String, content: Content) {
    self.time = time
    self.connection = connection
    self.content = content
  }
}

// MARK: - Writing

extension RateLogLine {
  /// The object, without the line feed.
  package var text: String {
    var members: [(String, JSONValue)] = [("t_ms", .milliseconds(time))]
    if !connection.isEmpty { members.append(("viewer", .string(connection))) }
    members.append(("event", .string(name)))
    return JSONValue.object(members + fields).text
  }

  private var name: String {
    switch content {
    case .opened: "opened"
    case .dropped: "dropped"
    case .entry(let entry):
      switch entry {
      case .started: "started"
      case .feedback: "feedback"
      case .loss: "loss"
      case .roundTrip: "rtt"
      case .remoteMaximum: "remote_maximum"
      case .limits: "limits"
      case .routeChanged: "route_changed"
      case .deadline: "deadline"
      case .estimate: "estimate"
      case .probe: "probe"
      }
    }
  }

  private var fields: [(String, JSONValue)] {
    switch content {
    case .opened(let algorithm, let limits, let origin):
      [("rate_control", .string(algorithm.rawValue)), ("origin_s", .count(origin))] + Self.fields(of: limits)
    case .dropped(let count): [("entries", .count(count))]
    case .entry(let entry): Self.fields(of: entry)
    }
  }

  private static func fields(of entry: RateLogEntry) -> [(String, JSONValue)] {
    switch entry {
    case .started(let limits), .limits(let limits): fields(of: limits)
    case .feedback(let results, let activity):
      fields(of: activity) + [("packets", .verbatim("[" + results.map(text).joined(separator: ",") + "]"))]
    case .loss(let expected, let lost): [("expected", .count(expected)), ("lost", .count(lost))]
    case .roundTrip(let time): [("rtt_ms", .milliseconds(time))]
    case .remoteMaximum(let rate): [("rate_bps", .optional(rate))]
    case .routeChanged: []
    case .deadline(let activity): fields(of: activity)
    case .estimate(let estimate): fields(of: estimate)
    case .probe(let probe):
      [
        ("id", .count(probe.id)), ("rate_bps", .count(probe.rate.bitsPerSecond)),
        ("minimum_packets", .count(probe.minimumPackets)), ("minimum_bytes", .count(probe.minimumBytes)),
      ]
    }
  }

  private static func fields(of limits: BitrateLimits) -> [(String, JSONValue)] {
    [
      ("minimum_bps", .count(limits.minimum.bitsPerSecond)), ("maximum_bps", .count(limits.maximum.bitsPerSecond)),
      ("start_bps", .count(limits.start.bitsPerSecond)), ("step_up", .exact(limits.stepUp)),
      ("step_down", .exact(limits.stepDown)), ("critical_step_down", .exact(limits.criticalStepDown)),
      ("critical_loss", .exact(limits.criticalLoss)), ("high_loss", .exact(limits.highLoss)),
      ("low_loss", .exact(limits.lowLoss)),
    ]
  }

  private static func fields(of activity: SendActivity) -> [(String, JSONValue)] {
    [
      ("sent_bytes", .count(activity.sentBytes)), ("in_flight_bytes", .count(activity.inFlight)),
      ("queued_bytes", .count(activity.queued)), ("last_sent_ms", .milliseconds(activity.lastSent)),
    ]
  }

  private static func fields(of estimate: NetworkEstimate) -> [(String, JSONValue)] {
    [
      ("target_bps", .count(estimate.target.bitsPerSecond)), ("reason", .string(estimate.reason.rawValue)),
      ("pacing_bps", .count(estimate.pacingRate.bitsPerSecond)), ("burst_bytes", .count(estimate.burst)),
      ("window_bytes", estimate.window.map { .count($0) } ?? .null), ("loss", .exact(estimate.loss)),
      ("queueing_delay_ms", .optional(estimate.queueingDelay)), ("rtt_ms", .optional(estimate.roundTripTime)),
      ("delay_based_bps", .optional(estimate.delayBased)), ("loss_based_bps", .optional(estimate.lossBased)),
      ("acknowledged_bps", .optional(estimate.acknowledged)),
      ("remote_maximum_bps", .optional(estimate.remoteMaximum)),
    ]
  }

  /// `[number, sent, bytes, kind, arrival, probe, late]`; the last two are left out where they say nothing.
  private static func text(of result: PacketResult) -> String {
    let packet = result.packet
    var text = "[\(packet.number),\(packet.sendTime.decimalMilliseconds),\(packet.size),\"\(packet.kind.word)\","
    text += result.arrival?.decimalMilliseconds ?? "null"
    if packet.probe != nil || result.wasReportedLost { text += "," + (packet.probe.map { "\($0)" } ?? "null") }
    if result.wasReportedLost { text += ",true" }
    return text + "]"
  }
}

extension SentPacket.Kind {
  static let all = (0...UInt8.max).compactMap { SentPacket.Kind(rawValue: $0) }

  var word: String {
    switch self {
    case .video: "video"
    case .audio: "audio"
    case .repair: "repair"
    case .padding: "padding"
    case .fec: "fec"
    case .data: "data"
    }
  }
}

extension JSONValue {
  fileprivate static func milliseconds(_ time: Timestamp) -> JSONValue { .verbatim(time.decimalMilliseconds) }
  fileprivate static func milliseconds(_ time: TimeDelta) -> JSONValue { .verbatim(time.decimalMilliseconds) }
  fileprivate static func optional(_ time: TimeDelta?) -> JSONValue { time.map { .milliseconds($0) } ?? .null }
  fileprivate static func optional(_ rate: BitRate?) -> JSONValue { rate.map { .count($0.bitsPerSecond) } ?? .null }
  /// With every digit, so that the very same number is read back.
  fileprivate static func exact(_ value: Double) -> JSONValue { value.isFinite ? .verbatim("\(value)") : .null }
}

extension Timestamp {
  fileprivate var decimalMilliseconds: String { TimeDelta(nanoseconds: nanoseconds).decimalMilliseconds }
}

extension TimeDelta {
  /// Milliseconds with all digits down to nanoseconds, trailing zeros left out.
  fileprivate var decimalMilliseconds: String {
    let magnitude = nanoseconds.magnitude
    var fraction = magnitude % 1_000_000
    var text = (nanoseconds < 0 ? "-" : "") + String(magnitude / 1_000_000)
    guard fraction > 0 else { return text }
    var digits = 6
    while fraction % 10 == 0 {
      fraction /= 10
      digits -= 1
    }
    let written = String(fraction)
    text += "." + String(repeating: "0", count: digits - written.utf8.count) + written
    return text
  }
}
