import RTCPrimitives
import RTCWire

/// A connectivity check that is under way (RFC 8489 §6.2.1). Several may belong to one pair.
struct CheckTransaction {
  let id: STUNTransactionID
  /// The pair's id.
  let pair: Int
  let role: STUNICERole
  let nominates: Bool
  let sentAt: Timestamp
  var transmissions = 1
  /// The wait after the latest transmission.
  var wait: TimeDelta
  var dueAt: Timestamp
  /// Not sent again; an answer still counts until `dueAt`.
  var isCancelled = false
  /// A request of the peer has already brought a repetition forward.
  var isExpedited = false

  /// It is sent once more.
  mutating func advance(_ configuration: ICEConfiguration, now: Timestamp) {
    transmissions += 1
    let isLast = transmissions == configuration.maximumTransmissions
    wait =
      isLast
      ? configuration.initialRTO * configuration.finalWaitFactor : min(wait * 2, max(wait, configuration.maximumRTO))
    dueAt = now + wait
  }
}

/// A check that came before the peer's description (RFC 8445 §7.3).
struct EarlyCheck {
  let route: Route
  let priority: UInt32
  let nominates: Bool
  /// The sender's username fragment.
  let fragment: [UInt8]
}

/// What belongs to one pair of credentials: an ICE restart begins a new one.
struct ICESession {
  enum Phase: Hashable {
    case awaitingRemote
    case checking(since: Timestamp)
    /// A pair is nominated.
    case completed(pair: Int)
    case failed
  }

  /// What the peer says of its candidates (RFC 8838 §14).
  enum RemoteGathering {
    case underWay
    case complete
  }

  let local: LocalIdentity
  var remote: RemoteIdentity?
  var phase: Phase = .awaitingRemote
  var checklist: Checklist
  /// As signalled.
  var remoteCandidates: [ICECandidate] = []
  var remoteGathering = RemoteGathering.underWay
  var earlyChecks: [EarlyCheck] = []
  var transactions: [CheckTransaction] = []
  /// The end of a controlling agent's wait for a better pair.
  var nominationAt: Timestamp?
  /// When the peer last nominated the selected pair.
  var nominatedAt = Timestamp.zero

  init(local: LocalIdentity, configuration: ICEConfiguration) {
    self.local = local
    checklist = Checklist(limit: configuration.maximumPairs)
  }

  /// The id of the nominated pair.
  var selectedPair: Int? { if case .completed(let pair) = phase { pair } else { nil } }

  /// - Parameter sparingNomination: leaves a nominating check alone, when it is the answer to an earlier, ordinary check
  ///   that makes the others needless.
  mutating func cancelTransactions(of pair: Int, sparingNomination: Bool = false) {
    for i in transactions.indices where transactions[i].pair == pair {
      if !(sparingNomination && transactions[i].nominates) { transactions[i].isCancelled = true }
    }
  }

  mutating func cancelTransactions(exceptFor pair: Int) {
    for i in transactions.indices where transactions[i].pair != pair { transactions[i].isCancelled = true }
  }
}

/// The nominated pair's route, with all that sending on it needs: it outlives its session during a restart.
struct SelectedPath {
  let route: Route
  let remote: RemoteIdentity
  /// PRIORITY of checks sent on it.
  let priority: UInt32
  var consent: ConsentMonitor
}
