import Glibc
import RTCEngine
import RTCMedia

/// Why a cast that had started came to its end.
enum CastEnding: Sendable {
  case signal(Int32)
  /// By the command `stop`.
  case stopped
  case durationOver
  case sourceFinished
  case sourceLost(String)
  /// The command of `rtcast run` has ended.
  case commandEnded
  /// The WHIP service's connection ended.
  case publicationEnded(EndReason)
  /// The WHIP service refused to continue after an interruption.
  case publicationRefused(CastFailure)

  /// The source ended by itself.
  init(_ end: CaptureEnd) {
    switch end {
    case .finished: self = .sourceFinished
    case .lost(let sentence): self = .sourceLost(sentence)
    }
  }

  /// As `reason` in the `ended` event.
  var word: String {
    switch self {
    case .signal(SIGINT): "interrupted"
    case .signal: "terminated"
    case .stopped: "stopped"
    case .durationOver: "duration over"
    case .sourceFinished: "source finished"
    case .sourceLost: "source lost"
    case .commandEnded: "command ended"
    case .publicationEnded, .publicationRefused: "publication ended"
    }
  }

  /// Nil for the ends that were asked for.
  var failure: CastFailure? {
    switch self {
    case .signal, .stopped, .durationOver, .sourceFinished, .commandEnded, .publicationEnded(.closedLocally): nil
    case .sourceLost(let sentence): CastFailure(.unavailable, sentence)
    case .publicationRefused(let failure): failure
    case .publicationEnded(.closedRemotely):
      CastFailure(.unavailable, "The WHIP service ended the publication; publish again, or see its log.")
    case .publicationEnded(.unreachable(let tried)):
      CastFailure(
        .unavailable, "There is no way to the WHIP service (\(tried)); check the network, or run `rtcast doctor --ice`."
      )
    case .publicationEnded(.timedOut):
      CastFailure(
        .unavailable,
        "The WHIP service accepted the offer, but no media connection was established; does a firewall block UDP?")
    case .publicationEnded(.fingerprintMismatch):
      CastFailure(
        .protocolError, "The WHIP service's certificate does not match its answer; the connection may be intercepted.")
    case .publicationEnded(.tooCostly):
      CastFailure(
        .protocolError,
        "Packets from the WHIP service took more than their share of the processor; the connection was ended.")
    case .publicationEnded(.handshakeFailed(let why)):
      CastFailure(.protocolError, "The DTLS handshake with the WHIP service failed: \(why)")
    }
  }
}
