import Synchronization

/// The number of refusals because of a limit since the process began, shared by all parts. Any thread.
public final class RefusalCounts: Sendable {
  /// The subject of a refusal. The raw value is the label in `/metrics`.
  public enum Subject: String, CaseIterable, Sendable {
    /// A description or candidates that cannot be read, or are over a limit of `PeerLimits`.
    case description
    /// A session, because there are as many as there may be.
    case session
    /// A session, because its address has too many that were never connected.
    case halfOpenSession = "half_open_session"
    /// An ICE check to an address that has not shown that it wants any.
    case check
    /// A datagram that is for no session.
    case datagram
    /// A key frame that was put off, because its viewer has had many.
    case keyFrame = "key_frame"
    /// A datagram of a session whose datagrams cost more than the session's share of the processor.
    case costlyDatagram = "costly_datagram"
    /// A session that was ended because its datagrams cost more than its share of the processor.
    case costlySession = "costly_session"
  }

  private let counts = Mutex<[Subject: UInt64]>([:])

  /// No refusals.
  public init() {}

  /// Counts one.
  public func count(_ subject: Subject) { counts.withLock { $0[subject, default: 0] += 1 } }

  /// The counts of all subjects, including zeros.
  public var all: [Subject: UInt64] {
    let counts = counts.withLock { $0 }
    return Dictionary(uniqueKeysWithValues: Subject.allCases.map { ($0, counts[$0] ?? 0) })
  }
}
