import RTCICE
import RTCPrimitives

/// One way to a STUN or TURN server, as configured, and how far asking it has come. Lives on the loop's thread.
final class ConfiguredServer {
  enum Phase {
    /// The name is being resolved.
    case resolving(until: Timestamp)
    /// The stream is being opened.
    case connecting(ServerStream, until: Timestamp)
    /// The gatherer has it, and this stream, if any, carries the messages.
    case asked(ServerStream?)
    /// The server was not reached; try again at the given time.
    case waiting(until: Timestamp)
    /// Another attempt would fail the same way.
    case stopped
  }

  /// A way to it that the gatherer has.
  struct Asked {
    var route: Route
    var transport: CandidateGatherer.Server.Transport
    var relay: UInt16?
    /// The address that the kernel sends from to the server.
    var source: IPAddress?
  }

  let url: ICEServerURL
  var username: String
  var credential: String
  var phase = Phase.stopped
  /// By the gatherer's name for each.
  var asked: [Int: Asked] = [:]
  /// Resolved, and to be tried when those before them fail.
  var alternatives: [SocketAddress] = []
  /// How a stream to an address of it is opened; nil before its name was found.
  var targets: ((SocketAddress) -> ServerStream.Target)?
  /// When it had last forgotten an allocation of ours.
  var lostAt = Timestamp.zero
  /// Answers of the resolver to another attempt than this are too late.
  var attempt = 0
  private var delay = ConfiguredServer.shortestDelay
  private(set) var outcome: GatheringReport.Server

  init(_ url: ICEServerURL, username: String, credential: String) {
    (self.url, self.username, self.credential) = (url, username, credential)
    outcome = GatheringReport.Server(url: url)
  }

  /// Whether the result of the attempt is still open.
  var isBeginning: Bool {
    guard outcome.failure == nil, outcome.answeredAfter == nil else { return false }
    switch phase {
    case .resolving, .connecting: return true
    case .asked, .waiting, .stopped: return false
    }
  }

  var isHealthy: Bool {
    if case .asked = phase { outcome.failure == nil && outcome.answeredAfter != nil } else { false }
  }

  var nextDeadline: Timestamp {
    switch phase {
    case .resolving(let until), .connecting(_, let until), .waiting(let until): until
    case .asked, .stopped: .distantFuture
    }
  }

  var stream: ServerStream? {
    switch phase {
    case .connecting(let stream, _): stream
    case .asked(let stream): stream
    default: nil
    }
  }

  func noteAnswer(after time: TimeDelta, mapped: SocketAddress?, relayed: SocketAddress?, of id: Int) {
    delay = Self.shortestDelay
    outcome.address = asked[id]?.route.remote
    outcome.answeredAfter = time
    outcome.mapped = mapped
    outcome.relayed = relayed
    outcome.failure = nil
  }

  func noteFailure(_ sentence: String, at address: SocketAddress? = nil) {
    outcome.failure = sentence
    if let address { outcome.address = address }
  }

  /// Twice as long each time, until it has answered once.
  func takeDelay() -> TimeDelta {
    defer { delay = min(delay * 2, Self.longestDelay) }
    return delay
  }

  func resetDelay() { delay = Self.shortestDelay }

  private static let shortestDelay = TimeDelta.seconds(1)
  private static let longestDelay = TimeDelta.seconds(60)
}

extension ICEServerFailure {
  /// Whether the same credentials would fail again.
  var isFinal: Bool {
    switch self {
    case .credentialsMissing, .unauthorized, .credentialsExpired, .forbidden, .realmChanged, .redirectRefused,
      .duplicate, .malformedAnswer:
      true
    case .noAnswer, .quotaReached, .insufficientCapacity, .allocationMismatch, .allocationLost, .staleNonces,
      .badIntegrity, .redirected, .refused:
      false
    }
  }
}
