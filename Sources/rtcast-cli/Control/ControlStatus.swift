import Glibc
import RTCPrimitives
import RTCSignaling
import RTCast

/// The facts in every `status` event of a process.
struct ControlStatus: Sendable {
  private let taker: ControlCommand.Taker
  /// The second of the start since 1970.
  private let since = Int64(time(nil))

  init(of taker: ControlCommand.Taker) { self.taker = taker }

  /// - Parameter fields: what is told of a process of this kind alone.
  func event(_ fields: [(String, JSONValue)]) -> OutputEvent {
    OutputEvent(
      .status,
      [
        ("kind", .string(taker.rawValue)), ("since", .integer(since)), ("process", .count(getpid())),
        ("version", .string(ProgramVersion.text)),
      ] + fields)
  }
}

extension StatisticsReport {
  /// The `viewers` event.
  /// - Parameters:
  ///   - now: the viewers that there are.
  ///   - measured: figures of the last second, which tell rates better; nil before there are any.
  static func viewers(_ now: BroadcastStatistics, measured: BroadcastStatistics?) -> OutputEvent {
    let measured = measured?.peers ?? []
    let viewers = now.peers.map { viewer in
      let figures = measured.first { $0.id == viewer.id } ?? viewer
      return JSONValue.object([
        ("id", .string(viewer.id)), ("state", .string(viewer.state.word)),
        ("remote", .optional(viewer.route?.remote.description)),
        // The side encoding may have another.
        ("codec", viewer.rung == 1 ? .null : .string(now.codec.rawValue)),
        ("fps_sent", .number(figures.framesSent)), ("bitrate_bps", .count(figures.bitrate.bitsPerSecond)),
        ("rtt_ms", .optional(viewer.roundTripTime?.inMilliseconds)), ("loss", .number(figures.loss)),
      ])
    }
    return OutputEvent(.viewers, [("peers", .array(viewers))])
  }
}
