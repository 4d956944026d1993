/// The limits of one remote peer, each with its reason; docs/security.md has them as a table.
///
/// Input over a limit is refused and counted; it is never an error of ours. The hub's limits are `HubLimits`.
public enum PeerLimits {
  /// A token bucket: a burst, and one more each time that `refill` has passed.
  public struct Allowance: Sendable {
    /// The size of the burst.
    public let burst: Int64
    /// The time after which one more may be taken.
    public let refill: TimeDelta
  }

  /// How much of an allowance has been used (a generic cell rate): it is full again at `recovered`.
  public struct Account: Sendable {
    private var recovered = Timestamp.zero

    /// Makes a full allowance.
    public init() {}

    /// When one may be taken; the past where it may now.
    public func earliest(_ allowance: Allowance) -> Timestamp { recovered - allowance.refill * (allowance.burst - 1) }

    /// Takes one, whether it may be or not.
    public mutating func take(_ allowance: Allowance, now: Timestamp) {
      recovered = max(recovered, now) + allowance.refill
    }

    /// Takes one if it may be.
    public mutating func mayTake(_ allowance: Allowance, now: Timestamp) -> Bool {
      guard earliest(allowance) <= now else { return false }
      take(allowance, now: now)
      return true
    }
  }

  // MARK: - Descriptions: parsed on the thread that sends all media, so that the largest takes 5 ms at most

  /// Bytes of a description. Offers of browsers have 5 to 10 KiB, and 6 KiB more for each further video.
  public static let descriptionBytes = 128 * 1_024
  /// Lines of a description. A browser's m-section of video has 150.
  public static let descriptionLines = 2_500
  /// Bytes of a line without its line ending. The longest that is of use names the formats of an m-section.
  public static let lineBytes = 4_096
  /// M-sections of a description: stopped ones keep their places.
  public static let mediaSections = 64
  /// Formats of an m-section: RTP has 128 payload types.
  public static let formats = 128
  /// Formats of all m-sections together. Browsers name 50 for each video.
  public static let formatsInAll = 1_024
  /// Different `a=rtcp-fb` of one payload type, and of all (`*`); there are six in use.
  public static let feedbackMessages = 8
  /// Bytes of all `a=fmtp` of one payload type. Parameter sets of H.264 take two hundred.
  public static let formatParameterBytes = 512
  /// `a=extmap` of an m-section; browsers name fifteen.
  public static let headerExtensions = 64
  /// `a=ssrc` sources of an m-section. A peer sends under three for each video.
  public static let describedSources = 64
  /// Maximum number of sources described in all m-sections together.
  public static let describedSourcesInAll = 256
  /// `a=ssrc-group` of an m-section, and the sources of one.
  public static let sourceGroups = 64
  /// `a=msid`, and `a=rid`, of an m-section; one of the first, three of the second are in use.
  public static let streamIdentifiers = 16
  /// `a=fingerprint` of an m-section or at session level: one for each digest that a peer can do.
  public static let fingerprints = 8
  /// Candidates of a description or fragment; the rest is passed over. ICE keeps fewer.
  public static let describedCandidates = 64
  /// Attributes without a meaning to us that are kept, of an m-section and at session level; the rest is passed over.
  public static let otherAttributes = 64

  // MARK: - Addresses

  /// Candidates of a remote peer that are checked, peer-reflexive ones included. One with three interfaces, IPv6 and two
  /// relays has some twenty.
  public static let remoteCandidates = 32
  /// Pairs of candidates that wait for a place among those that are checked.
  public static let reservedPairs = 1_000
  /// Requests of ICE with the session's user name whose integrity is verified, which takes 5 to 7 µs. An observer of the path
  /// can forge such requests; their number must not keep the peer's own from being looked at.
  public static let checksVerified = Allowance(burst: 1_000, refill: .microseconds(250))
  /// Requests of ICE that a session answers; browsers send twenty a second for each pair while they look for a path.
  public static let checksReceived = Allowance(burst: 400, refill: .milliseconds(10))
  /// Addresses from which a session's datagrams are accepted at a time: the last that proved to be its peer's.
  public static let provedAddresses = 16
  /// Addresses to which a session has written and that the loop remembers, to report the system's send errors.
  public static let addressesWritten = 64
  /// Checks that all sessions of the process may send to one IP address, beyond the number of datagrams from it, within
  /// `unsolicitedCheckWindow`, while it answers none. A peer's machine gets some dozen checks of a session before its
  /// own arrive; a peer that names a victim's address causes 4 kbit/s.
  public static let unsolicitedChecks = 50
  /// Checks to all addresses that have not answered.
  public static let unsolicitedChecksInAll = 2_000
  /// The time in which those are counted.
  public static let unsolicitedCheckWindow = TimeDelta.seconds(10)
  /// The number of IP addresses counted for that; beyond it, further addresses get no checks until the window is over.
  public static let watchedAddresses = 4_096

  // MARK: - Signaling and connections

  /// Descriptions, candidates and words of one call that wait to be acted on; a description with all its candidates is some
  /// fifty.
  public static let waitingSignals = 256
  /// Messages to the hub that wait, of all calls.
  public static let waitingMessages = 4_096
  /// Time from a description to the first authentic sign of its maker, after which his place is another's: browsers check at
  /// once, within a second on any network.
  public static let firstContact = TimeDelta.seconds(6)
  /// Connections from one address that have never been connected, at a time. Behind one address may be a school.
  public static let unconnectedOfAddress = 64
  /// Publications from one address that have never been connected, at a time: a relay has places for sixteen.
  public static let unconnectedPublications = 4
  /// Transceivers of a session that are not stopped.
  public static let transceivers = 128
  /// Transceivers of a session in its whole life: stopped ones keep their numbers and accounts.
  public static let transceiversInAll = 512

  // MARK: - Key frames: each costs all viewers of an encoder the bits of ten pictures

  /// A viewer's key-frame requests to an encoder with other viewers: two a minute in the long run.
  public static let sharedKeyFrames = Allowance(burst: 2, refill: .seconds(30))
  /// A viewer's key-frame requests to an encoder of its own: they cost processor time, which all share.
  public static let ownKeyFrames = Allowance(burst: 5, refill: .seconds(2))
  /// First pictures, of one who begins to be sent to and ends again and again.
  public static let firstKeyFrames = Allowance(burst: 4, refill: .seconds(5))
  /// The minimum interval of key frames for several viewers, except for a viewer's first picture.
  public static let sharedKeyFrameInterval = TimeDelta.seconds(1)

  // MARK: - Media

  /// Transport-wide feedback and REMB messages that a session accepts. Browsers send twenty a second, some receivers
  /// one for each frame; each one causes a new estimate and new shares of the encoders.
  public static let rateFeedback = Allowance(burst: 100, refill: .milliseconds(4))
  /// Sources (SSRC) of a remote peer with a replay window, 300 bytes each: twice the number that its m-sections may
  /// have at a time, since reports have sources too. The one that was silent longest is replaced.
  public static let sources = 128
  /// Videos of one remote peer that are decoded at a time: each has a thread.
  public static let decodedVideos = 32
}
