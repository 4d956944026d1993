import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCSignaling
import RTCast

/// The `stats` event, and its short form for people.
struct StatisticsReport: Sendable {
  var broadcast: BroadcastStatistics
  var process: ProcessUsage.Reading
  /// The progress of a file.
  var progress: ProgressBar?
  /// The present reduction of quality.
  var limitation: QualityLimitation?
  /// A recent problem.
  var notice: String?

  var event: OutputEvent { OutputEvent(.stats, fields) }

  /// The fields of the event, as an object.
  var object: JSONValue { .object(fields) }

  private var fields: [(String, JSONValue)] { pictureFigures + networkFigures + processFigures }

  private var pictureFigures: [(String, JSONValue)] {
    let s = broadcast
    var place: [(String, JSONValue)] = []
    if let progress {
      place = [("position_s", .number(progress.position)), ("duration_s", .optional(progress.duration))]
    }
    return place + [
      ("t_ms", JSONValue.count(s.time.milliseconds)), ("viewers", JSONValue.count(s.viewers)),
      ("sessions", JSONValue.count(s.sessions)), ("width", JSONValue.count(s.size.width)),
      ("height", JSONValue.count(s.size.height)), ("fps_captured", JSONValue.number(s.framesCaptured)),
      ("fps_encoded", JSONValue.number(s.framesEncoded)), ("fps_passed", JSONValue.number(s.framesPassed)),
      ("fps_sent", JSONValue.number(s.framesSent)),
    ]
  }

  private var networkFigures: [(String, JSONValue)] {
    let s = broadcast
    return [
      ("bitrate_bps", JSONValue.count(s.bitrate.bitsPerSecond)),
      ("target_bps", JSONValue.count(s.target.bitsPerSecond)),
      ("estimate_bps", s.estimate.map { .count($0.target.bitsPerSecond) } ?? .null),
      ("estimate_reason", .optional(s.estimate?.reason.rawValue)),
      ("queueing_delay_ms", .optional(s.queueingDelay?.inMilliseconds)), ("repair", .number(s.repairShare)),
      ("limitation", .optional(limitation?.sentence)),
      ("audio_bps", JSONValue.count(s.audioBitrate.bitsPerSecond)), ("audio_loss", JSONValue.number(s.audioLoss)),
      ("rtt_ms", JSONValue.optional(s.roundTripTime?.inMilliseconds)), ("loss", JSONValue.number(s.loss)),
      ("nack", JSONValue.count(s.nackCount)), ("pli", JSONValue.count(s.pliCount)),
      ("qp", JSONValue.count(s.quantizer)),
    ]
  }

  private var processFigures: [(String, JSONValue)] {
    let s = broadcast
    return [
      ("capture_ms", JSONValue.number(s.captureTime.inMilliseconds)),
      ("convert_ms", JSONValue.number(s.convertTime.inMilliseconds)),
      ("encode_ms", JSONValue.number(s.encodeTime.inMilliseconds)),
      ("send_delay_ms", JSONValue.number(s.sendDelay.inMilliseconds)),
      ("left_out", Self.event(s.leftOut)), ("raw_copies", JSONValue.count(s.rawCopies)),
      ("cpu_pct", JSONValue.number(process.cpuPercent)),
      ("rss_bytes", JSONValue.count(process.residentBytes)), ("codec", JSONValue.string(s.codec.rawValue)),
      ("content_hint", JSONValue.string(s.contentHint.rawValue)),
      ("rungs", JSONValue.array(s.rungs.map(Self.event))), ("handovers", JSONValue.count(s.handovers)),
      ("peers", JSONValue.array(s.peers.map(Self.event))),
    ]
  }

  private static func event(_ leftOut: LeftOutPictures) -> JSONValue {
    .object([
      ("busy", JSONValue.count(leftOut.busy)), ("bitrate", JSONValue.count(leftOut.bitrate)),
      ("unchanged", JSONValue.count(leftOut.unchanged)), ("exact", JSONValue.count(leftOut.exact)),
    ])
  }

  private static func event(_ viewer: BroadcastStatistics.Viewer) -> JSONValue {
    let route: JSONValue = .optional(viewer.route?.remote.description)
    return .object([
      ("id", JSONValue.string(viewer.id)), ("state", JSONValue.string(viewer.state.word)), ("remote", route),
      ("fps_sent", JSONValue.number(viewer.framesSent)),
      ("bitrate_bps", JSONValue.count(viewer.bitrate.bitsPerSecond)),
      ("audio_bps", JSONValue.count(viewer.audioBitrate.bitsPerSecond)),
      ("audio_loss", JSONValue.number(viewer.audioLoss)),
      ("target_bps", JSONValue.count(viewer.target.bitsPerSecond)),
      ("network", viewer.network.map(event) ?? .null), ("repair", .number(viewer.repairShare)),
      ("rtt_ms", JSONValue.optional(viewer.roundTripTime?.inMilliseconds)), ("loss", JSONValue.number(viewer.loss)),
      ("nack", JSONValue.count(viewer.nackCount)), ("pli", JSONValue.count(viewer.pliCount)),
      ("send_delay_ms", JSONValue.number(viewer.sendDelay.inMilliseconds)),
      ("rung", viewer.rung.map { $0 == 0 ? "main" : "side" } ?? .null),
      ("rung_reason", .optional(viewer.rungReason?.rawValue)), ("exact", viewer.exact.map(event) ?? .null),
    ])
  }

  private static func event(_ exact: BroadcastStatistics.Exact) -> JSONValue {
    .object([
      ("visible", .bool(exact.isVisible)), ("share", .number(exact.share)), ("video_share", .number(exact.videoShare)),
      ("rectangles", .count(exact.rectangles)), ("moves", .count(exact.moves)), ("bytes", .count(exact.bytes)),
      ("unacknowledged_bytes", .count(exact.unacknowledgedBytes)),
    ])
  }

  private static func event(_ rung: BroadcastStatistics.Rung) -> JSONValue {
    .object([
      ("viewers", .count(rung.viewers)), ("target_bps", rung.target.map { .count($0.bitsPerSecond) } ?? .null),
      ("fps_encoded", .number(rung.framesEncoded)), ("bitrate_bps", .count(rung.bitrate.bitsPerSecond)),
      ("key_frames", .count(rung.keyFrames)),
    ])
  }

  /// An estimate and its parts.
  static func event(_ estimate: NetworkEstimate) -> JSONValue {
    func part(_ rate: BitRate?) -> JSONValue { rate.map { .count($0.bitsPerSecond) } ?? .null }
    return .object([
      ("estimate_bps", .count(estimate.target.bitsPerSecond)), ("reason", .string(estimate.reason.rawValue)),
      ("delay_based_bps", part(estimate.delayBased)), ("loss_based_bps", part(estimate.lossBased)),
      ("acknowledged_bps", part(estimate.acknowledged)), ("remote_maximum_bps", part(estimate.remoteMaximum)),
      ("pacing_bps", .count(estimate.pacingRate.bitsPerSecond)),
      ("queueing_delay_ms", .optional(estimate.queueingDelay?.inMilliseconds)), ("loss", .number(estimate.loss)),
    ])
  }

  /// For a person; the least telling figures go first when the terminal is narrow.
  /// - Parameter publishing: to a WHIP service, which is no viewer.
  func line(publishing: Bool) -> StatusLine {
    let s = broadcast
    let isLive = s.viewers > 0
    let waiting = publishing ? "○ connecting" : "○ waiting for viewers"
    var pieces = [StatusLine.Piece(isLive ? "● live" : waiting, rank: 0)]
    if let progress { pieces.append(StatusLine.Piece(progress.text(width: 20), rank: 1)) }
    if isLive, !publishing { pieces.append(StatusLine.Piece(Figures.count(s.viewers, "viewer"), rank: 1)) }
    if s.size.width > 0 { pieces.append(StatusLine.Piece("\(s.size.width)×\(s.size.height)", rank: 3)) }
    if isLive {
      pieces += [
        StatusLine.Piece(Figures.fixed(s.framesSent, 1) + " fps", rank: 2),
        StatusLine.Piece(Figures.rate(bitsPerSecond: s.bitrate.bitsPerSecond) + estimate, rank: 2),
        StatusLine.Piece("rtt " + (s.roundTripTime.map { Figures.milliseconds($0.inMilliseconds) } ?? "–"), rank: 4),
        StatusLine.Piece("loss \(Figures.fixed(100 * s.loss, 1)) %", rank: 4),
        StatusLine.Piece("queue " + (s.queueingDelay.map { Figures.milliseconds($0.inMilliseconds) } ?? "–"), rank: 5),
        StatusLine.Piece("repair \(Figures.fixed(100 * s.repairShare, 1)) %", rank: 5),
        StatusLine.Piece("encode \(Figures.milliseconds(s.encodeTime.inMilliseconds))", rank: 7),
      ]
      // The lowest share of all visible pages.
      if let share = s.peers.compactMap({ $0.exact }).filter(\.isVisible).map(\.share).min() {
        pieces.append(StatusLine.Piece("exact \(Figures.fixed(100 * share, 0)) %", rank: 5))
      }
    }
    if let notice { pieces.append(StatusLine.Piece("· " + notice, rank: 1)) }
    pieces.append(StatusLine.Piece("cpu \(Figures.fixed(process.cpuPercent, 1)) %", rank: 6))
    if isLive, let limitation { pieces.append(StatusLine.Piece("· " + limitation.sentence, rank: 1)) }
    return StatusLine(pieces)
  }
}

extension StatisticsReport {
  /// The bandwidth of the viewer with the worst network, behind the sent rate.
  private var estimate: String {
    broadcast.estimate.map { " of " + Figures.rate(bitsPerSecond: $0.target.bitsPerSecond) } ?? ""
  }
}

extension QualityLimitation {
  /// Such as `the network allows 400 kbit/s: 5 fps`.
  package var sentence: String {
    var effects: [String] = []
    if let frameRate {
      let isWhole = frameRate > 9.95 || frameRate == frameRate.rounded()
      effects.append(Figures.fixed(frameRate, isWhole ? 0 : 1) + " fps")
    }
    if let size { effects.append("\(size.width)×\(size.height)") }
    if isCoarse { effects.append("coarse") }
    let cause =
      switch reason {
      case .bandwidth: "the network allows \(Figures.rate(bitsPerSecond: rate.bitsPerSecond))"
      case .cpu: "this machine is too slow"
      }
    return effects.isEmpty ? cause : cause + ": " + effects.joined(separator: ", ")
  }
}

extension TimeDelta {
  /// With its fraction.
  var inMilliseconds: Double { Double(nanoseconds) / 1e6 }
}

extension PeerState {
  var word: String {
    switch self {
    case .new: "new"
    case .connecting: "connecting"
    case .connected: "connected"
    case .disconnected: "disconnected"
    case .ended: "ended"
    }
  }
}

extension EndReason {
  /// As `reason` in the `peer` event.
  var word: String {
    switch self {
    case .closedLocally: "closed here"
    case .closedRemotely: "left"
    case .unreachable: "unreachable"
    case .fingerprintMismatch: "fingerprint mismatch"
    case .handshakeFailed(let why): "handshake failed: \(why)"
    case .timedOut: "timed out"
    case .tooCostly: "too costly"
    }
  }
}
