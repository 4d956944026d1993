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

  /// Advances the timer for a retransmission.
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

/// The state of one pair of credentials: an ICE restart begins a new one.
struct ICESession {
  enum Phase: Hashable {
    case awaitingRemote
    case checking(since: Timestamp)
    /// A pair is nominated.
    case completed(pair: Int)
    case failed
  }

  let local: LocalIdentity
  var remote: RemoteIdentity?
  var phase: Phase = .awaitingRemote
  var checklist: Checklist
  /// The signaled candidates.
  var remoteCandidates: [ICECandidate] = []
  /// The state of the peer's gathering (RFC 8838 §14).
  var remoteGathering = ICEGathering.underWay
  var earlyChecks: [EarlyCheck] = []
  var transactions: [CheckTransaction] = []
  /// The end of a controlling agent's wait for a better pair.
  var nominationAt: Timestamp?
  /// When the peer last nominated the selected pair.
  var nominatedAt = Timestamp.zero
  /// The id of the pair that the peer nominated last without our following it.
  var declinedNomination: Int?
  /// When the selected pair was lost with its candidate and no other worked.
  var selectionLostAt: Timestamp?
  /// Requests that were sent to an address since it last answered.
  private var unanswered: [IPAddress: Int] = [:]

  init(local: LocalIdentity, configuration: ICEConfiguration) {
    self.local = local
    checklist = Checklist(limit: configuration.maximumPairs, reserve: configuration.maximumReservedPairs)
  }

  /// The id of the nominated pair.
  var selectedPair: Int? { if case .completed(let pair) = phase { pair } else { nil } }

  /// The selected pair, which was doubted, has answered.
  mutating func confirmSelected() {
    guard let selectedPair, let index = checklist.index(id: selectedPair), checklist[index].state == .waiting else {
      return
    }
    checklist[index].state = .succeeded
  }

  /// - Parameter sparingNomination: leaves a nominating check alone, when it is the answer to an earlier, ordinary check
  ///   that makes the others needless.
  mutating func cancelTransactions(of pair: Int, sparingNomination: Bool = false) {
    for i in transactions.indices where transactions[i].pair == pair {
      if !(sparingNomination && transactions[i].nominates) { transactions[i].isCancelled = true }
    }
  }

  /// Counts a request to an address; false when it was sent too many without an answer. As many addresses are watched as a
  /// peer can have in earnest.
  mutating func mayAsk(_ ip: IPAddress, limit: Int) -> Bool {
    let count = unanswered[ip] ?? 0
    guard count < limit, count > 0 || unanswered.count < Self.maximumWatchedAddresses else { return false }
    unanswered[ip] = count + 1
    return true
  }

  private static let maximumWatchedAddresses = 512

  /// An address has answered a request.
  mutating func answered(_ ip: IPAddress) { unanswered[ip] = nil }

  /// Candidates of the peer none of whose pairs is of any hope make room for others.
  mutating func forgetFailedCandidates() {
    let hopeful = Set(checklist.pairs.lazy.filter { $0.state != .failed }.map(\.remote.address))
    let failed = Set(checklist.pairs.lazy.filter { $0.state == .failed }.map(\.remote.address)).subtracting(hopeful)
    guard !failed.isEmpty else { return }
    remoteCandidates.removeAll { failed.contains($0.address) }
  }

  /// Gives up the checks of the pairs that are no better than the one of this id.
  mutating func rest(behind selected: Int) {
    guard let index = checklist.index(id: selected) else { return }
    let floor = checklist[index].priority
    checklist.rest(below: floor)
    for i in transactions.indices where transactions[i].pair != selected {
      guard let pair = checklist.index(id: transactions[i].pair), checklist[pair].priority > floor else {
        transactions[i].isCancelled = true
        continue
      }
    }
  }
}

/// Whether more candidates of a side may come.
enum ICEGathering {
  case underWay
  case complete
}

/// The nominated pair's route, with all values for sending on it: it outlives its session during a restart.
struct SelectedPath {
  let route: Route
  /// The base of ours that it leaves from.
  let local: ICECandidate
  let remote: RemoteIdentity
  /// PRIORITY of checks sent on it.
  let priority: UInt32
  var consent: ConsentMonitor
}
