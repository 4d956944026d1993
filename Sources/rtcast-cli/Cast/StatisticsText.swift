import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCast

/// The `stats` event, and its short form for people.
struct StatisticsReport: Sendable {
  var broadcast: BroadcastStatistics
  var process: ProcessUsage.Reading

  var event: JSONValue {
    let s = broadcast
    return [
      "event": "stats", "t_ms": .integer(s.time.milliseconds), "viewers": .integer(s.viewers),
      "sessions": .integer(s.sessions), "width": .integer(s.size.width), "height": .integer(s.size.height),
      "fps_captured": .number(s.framesCaptured), "fps_encoded": .number(s.framesEncoded),
      "fps_sent": .number(s.framesSent), "bitrate_bps": .integer(s.bitrate.bitsPerSecond),
      "target_bps": .integer(s.target.bitsPerSecond), "rtt_ms": .optional(s.roundTripTime?.inMilliseconds),
      "loss": .number(s.loss), "nack": .integer(s.nackCount), "pli": .integer(s.pliCount),
      "qp": .integer(s.quantizer), "capture_ms": .number(s.captureTime.inMilliseconds),
      "convert_ms": .number(s.convertTime.inMilliseconds), "encode_ms": .number(s.encodeTime.inMilliseconds),
      "send_delay_ms": .number(s.sendDelay.inMilliseconds), "raw_copies": .integer(s.rawCopies),
      "cpu_pct": .number(process.cpuPercent), "rss_bytes": .integer(process.residentBytes),
      "codec": .string(s.codec.rawValue), "content_hint": .string(s.contentHint.rawValue),
      "peers": .array(s.peers.map(Self.event)),
    ]
  }

  private static func event(_ viewer: BroadcastStatistics.Viewer) -> JSONValue {
    [
      "id": .string(viewer.id), "state": .string(viewer.state.word),
      "remote": .optional(viewer.route?.remote.description), "fps_sent": .number(viewer.framesSent),
      "bitrate_bps": .integer(viewer.bitrate.bitsPerSecond), "target_bps": .integer(viewer.target.bitsPerSecond),
      "rtt_ms": .optional(viewer.roundTripTime?.inMilliseconds), "loss": .number(viewer.loss),
      "nack": .integer(viewer.nackCount), "pli": .integer(viewer.pliCount),
      "send_delay_ms": .number(viewer.sendDelay.inMilliseconds),
    ]
  }

  /// For a person; the least telling figures go first when the terminal is narrow.
  var line: StatusLine {
    let s = broadcast
    let watched = s.viewers > 0
    var pieces = [
      StatusLine.Piece(watched ? "● live" : "○ nobody watches yet", rank: 0),
      StatusLine.Piece(Figures.count(s.viewers, "viewer"), rank: 1),
      StatusLine.Piece("\(s.size.width)×\(s.size.height)", rank: 3),
    ]
    if watched {
      pieces += [
        StatusLine.Piece(Figures.fixed(s.framesSent, 1) + " fps", rank: 2),
        StatusLine.Piece(Figures.rate(bitsPerSecond: s.bitrate.bitsPerSecond), rank: 2),
        StatusLine.Piece("rtt " + (s.roundTripTime.map { Figures.milliseconds($0.inMilliseconds) } ?? "–"), rank: 4),
        StatusLine.Piece("loss \(Figures.fixed(100 * s.loss, 1)) %", rank: 4),
        StatusLine.Piece("enc \(Figures.milliseconds(s.encodeTime.inMilliseconds))", rank: 6),
      ]
    }
    pieces.append(StatusLine.Piece("cpu \(Figures.fixed(process.cpuPercent, 1)) %", rank: 5))
    return StatusLine(pieces)
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
    }
  }
}
