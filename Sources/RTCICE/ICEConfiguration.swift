package import RTCPrimitives

/// How an agent paces, gives up and watches. The defaults are the RFCs' unless a field says why not.
package struct ICEConfiguration: Sendable {
  /// Ta, between new checks that may cross the Internet (RFC 8445 §14.2).
  package var checkInterval: TimeDelta = .milliseconds(50)
  /// Between new checks of host-to-host pairs: the RFC's least, so that a LAN connects within a few milliseconds.
  package var hostCheckInterval: TimeDelta = .milliseconds(5)
  /// The first retransmission's wait; grows with the number of checks under way (RFC 8445 §14.3).
  package var initialRTO: TimeDelta = .milliseconds(500)
  /// The initial timeout between hosts, where a round trip takes a few milliseconds. It is shorter than the RFC's, so
  /// that one lost check causes no noticeable pause; browsers repeat theirs every 50 ms.
  package var initialHostRTO: TimeDelta = .milliseconds(100)
  /// The maximum of the doubled timeout. The RFC allows 16 s; browsers check far more often, and on a lossy radio link
  /// a viewer should not wait that long.
  package var maximumRTO: TimeDelta = .seconds(2)
  /// Rc: how often a check is sent before it fails (RFC 8489 §6.2.1); with `maximumRTO` that takes the RFC's 39.5 s.
  package var maximumTransmissions = 18
  /// Rm: the wait for an answer to the last transmission, in initial RTOs (RFC 8489 §6.2.1).
  package var finalWaitFactor: Int64 = 16
  /// How long a controlling agent waits for a better pair once one works.
  package var nominationDelay: TimeDelta = .milliseconds(50)
  /// Mean time between consent checks, randomised by ±20 % (RFC 7675 §5.1).
  package var consentInterval: TimeDelta = .seconds(5)
  /// Consent's life without an answer (RFC 7675 §5.1).
  package var consentLifetime: TimeDelta = .seconds(30)
  /// Silence after which the state turns `disconnected`.
  package var disconnectedAfter: TimeDelta = .seconds(5)
  /// The minimum time of checking before failure (RFC 8863 §4).
  package var patience: TimeDelta = .milliseconds(39_500)
  /// The minimum time of checking if both sides have all candidates. RFC 8863 §4 forbids to fail at once when nothing
  /// is left to check: a check from an address that the remote peer does not know itself may be on its way, and arrives
  /// within seconds or not at all.
  package var completePatience: TimeDelta = .seconds(5)
  /// The kinds of our candidates that are used.
  package var transportPolicy = ICETransportPolicy.all
  /// Pairs that are checked at a time at most (RFC 8445 §6.1.2.5).
  package var maximumPairs = 100
  /// Further pairs that wait for a place among those.
  package var maximumReservedPairs = PeerLimits.reservedPairs
  /// Remote candidates kept at most, signalled and peer-reflexive.
  package var maximumRemoteCandidates = PeerLimits.remoteCandidates
  /// The maximum of those for one IP address: relays and NATs have several, but port scans must be impossible.
  package var maximumCandidatesOfOneAddress = 16
  /// Requests, repetitions included, that one IP address is sent without an answer, of one session.
  package var maximumUnansweredRequests = 500
  /// Checks remembered at most from a peer whose description has not come yet.
  package var maximumEarlyChecks = 16

  /// The defaults.
  package init() {}
}

/// The role in nomination (RFC 8445 §6.1.1).
package enum ICERole: Hashable, Sendable {
  case controlling
  case controlled

  var opposite: ICERole { self == .controlling ? .controlled : .controlling }
}

/// How the agent stands.
package enum ICEState: Hashable, Sendable {
  /// The remote description is not known yet.
  case new
  /// Looking for a pair that works.
  case checking
  /// A pair is nominated and answers.
  case connected
  /// The nominated pair is silent; it may recover by itself, and a restart may help.
  case disconnected
  /// No pair works, or consent ran out: nothing more is sent until a restart.
  case failed
}

/// An event for the owner of an agent.
package enum ICEEvent: Hashable, Sendable {
  case stateChanged(ICEState)
  /// Media goes this way from now on. Comes before the first `connected` when data may already flow on a valid pair that
  /// is not nominated yet (RFC 8445 §12.1).
  case selectedRouteChanged(Route)
  /// An authentic request came this way, to which no request of ours was answered yet: probably the peer is there.
  case routeClaimed(Route)
  /// The first answer to a request of ours arrived by this route: the peer is there, since no other peer has seen the
  /// request.
  case routeProved(Route)
  /// A role conflict was settled against our first belief.
  case roleChanged(ICERole)
}

/// Why a datagram or candidate was not used: the peer's doing, counted, never thrown.
package enum ICEDropReason: Int, CaseIterable, Sendable {
  /// Not a well-formed STUN message.
  case malformed
  /// FINGERPRINT missing or wrong.
  case badFingerprint
  /// A method or class ICE has no use for.
  case unexpectedMethod
  /// A request without USERNAME, MESSAGE-INTEGRITY or PRIORITY.
  case incompleteRequest
  /// USERNAME is not ours, or names another peer.
  case unknownUsername
  /// MESSAGE-INTEGRITY was made with another password.
  case badIntegrity
  /// A required attribute that is not known here.
  case unknownAttribute
  /// A response to nothing that is under way.
  case unknownTransaction
  /// A response that came another way than its request went.
  case asymmetricResponse
  /// A remote candidate that `CandidatePolicy` forbids, or of another username fragment.
  case unusableCandidate
  /// A candidate, pair or early check beyond the limits.
  case limitReached
  /// A request that came another way than by a relay, where only relays may be used.
  case forbiddenRoute
}

/// Counters since the agent was made.
package struct ICEStatistics: Sendable {
  /// Requests sent, retransmissions and consent checks included.
  package internal(set) var requestsSent = 0
  /// Connectivity checks sent again because no answer came in time.
  package internal(set) var retransmissions = 0
  /// Well-formed requests received, including those refused or dropped.
  package internal(set) var requestsReceived = 0
  /// Success responses sent.
  package internal(set) var responsesSent = 0
  /// Error responses sent.
  package internal(set) var errorResponsesSent = 0
  /// Well-formed responses received, success or error, whether they answer a request or not.
  package internal(set) var responsesReceived = 0
  /// Consent checks sent (RFC 7675 §5.1).
  package internal(set) var consentRequestsSent = 0
  /// Success responses to consent checks, authenticated and from the selected route.
  package internal(set) var consentResponsesReceived = 0
  /// ICE restarts begun on this side.
  package internal(set) var restarts = 0
  private var drops = InlineArray<12, Int>(repeating: 0)

  /// How often something was dropped for `reason`.
  package func drops(_ reason: ICEDropReason) -> Int { drops[reason.rawValue] }

  mutating func count(_ reason: ICEDropReason) { drops[reason.rawValue] += 1 }
}

/// The reasons an agent wants to be woken.
enum ICETimer: Int, CaseIterable, Sendable {
  /// The next check of the list may go out.
  case check
  /// A check must be repeated or given up.
  case retransmission
  /// The wait for a better pair is over.
  case nomination
  /// The next consent check, silence, or consent's end.
  case consent
  /// Checking may fail now.
  case patience
  /// A description has changed the state, which has not been reported yet.
  case report
}

/// When each timer is due; `distantFuture` when it is not set.
struct ICEDeadlines {
  private var times = InlineArray<6, Timestamp>(repeating: .distantFuture)

  subscript(timer: ICETimer) -> Timestamp {
    get { times[timer.rawValue] }
    set { times[timer.rawValue] = newValue }
  }

  var next: (time: Timestamp, timer: ICETimer)? {
    var best = ICETimer.check
    for timer in ICETimer.allCases where self[timer] < self[best] { best = timer }
    return self[best] == .distantFuture ? nil : (self[best], best)
  }
}
