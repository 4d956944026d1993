import RTCPrimitives
import RTCWire

/// A request to a STUN or TURN server that is under way (RFC 8489 §6.2).
struct ServerTransaction {
  enum Purpose: Hashable {
    case binding
    case allocate
    case refresh
    /// Refresh with a lifetime of 0, which ends the allocation.
    case release
    /// Permissions for these addresses.
    case permissions([IPAddress])
    /// The channel in this place of the table.
    case channel(Int)

    var method: STUNMethod {
      switch self {
      case .binding: .binding
      case .allocate: .allocate
      case .refresh, .release: .refresh
      case .permissions: .createPermission
      case .channel: .channelBind
      }
    }
  }

  /// Rc: how often a request is sent by UDP (RFC 8489 §6.2.1).
  private static let maximumTransmissions = 7
  /// Rm: the wait for an answer to the last transmission, in first waits (RFC 8489 §6.2.1).
  private static let finalWaitFactor: Int64 = 16
  /// A stream carries each request reliably, or breaks. RFC 8489 §6.2.2 waits for 39.5 s, which is too long for a
  /// candidate.
  private static let streamWait = TimeDelta.seconds(10)

  let id: STUNTransactionID
  let purpose: Purpose
  let message: [UInt8]
  let isAuthenticated: Bool
  /// The challenge that it was written with.
  let challenge: Int
  let startedAt: Timestamp
  private let firstWait: TimeDelta
  private(set) var transmissions = 1
  private var wait: TimeDelta
  private(set) var dueAt: Timestamp
  /// Whether it repeats an earlier one that the server did not accept.
  let isReissue: Bool
  /// An answer of wrong integrity came; it counts as none (RFC 8489 §9.2.5).
  var isMarred = false

  /// - Parameter firstWait: RTO; nil on a stream.
  init(
    id: STUNTransactionID, purpose: Purpose, message: [UInt8], credential: LongTermCredential, firstWait: TimeDelta?,
    isReissue: Bool, now: Timestamp
  ) {
    self.id = id
    self.purpose = purpose
    self.message = message
    self.isReissue = isReissue
    isAuthenticated = credential.challenge != nil
    challenge = credential.serial
    startedAt = now
    self.firstWait = firstWait ?? .zero
    wait = firstWait ?? Self.streamWait
    dueAt = now + wait
    if firstWait == nil { transmissions = Self.maximumTransmissions }
  }

  /// The answer cannot come any more, once `dueAt` is reached.
  var isLastTransmission: Bool { transmissions >= Self.maximumTransmissions }

  /// The server did not take it the first time that it was sent.
  var tookDetour: Bool { isReissue || firstWait > .zero && transmissions > 1 }

  /// Advances the timer for a retransmission.
  mutating func advance(now: Timestamp) {
    transmissions += 1
    wait = isLastTransmission ? firstWait * Self.finalWaitFactor : wait * 2
    dueAt = now + wait
  }
}
