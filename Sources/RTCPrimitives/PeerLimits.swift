/// What one remote peer may make us hold or do, each with its reason; docs/security.md has them as a table.
///
/// What is over a limit is refused, never an error of ours, and counted. Limits of the hub are `HubLimits`.
public enum PeerLimits {
  /// So much at once, and one more each time that `refill` has passed.
  public struct Allowance: Sendable {
    /// What may be taken at once.
    public let burst: Int64
    /// The time after which one more may be taken.
    public let refill: TimeDelta
  }

  /// How much of an allowance has been used (a generic cell rate): it is full again at `recovered`.
  public struct Account: Sendable {
    private var recovered = Timestamp.zero

    /// Nothing was taken yet.
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

  // MARK: - Descriptions: read on the thread that sends everybody's media, so that the largest takes 5 ms at most

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
  /// The same of all m-sections together.
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
  /// Addresses from which a session's datagrams are taken at a time: those that proved to be its peer's last.
  public static let provedAddresses = 16
  /// Addresses to which a session has written that the loop remembers, to tell it what the system refuses to send.
  public static let addressesWritten = 64
  /// Checks that one IP address is sent by all sessions of the process, beyond as many as datagrams came from it, within
  /// `uncalledWindow`, while it answers none. A peer's machine gets some dozen checks of a session before its own come;
  /// whoever names somebody else's address has him sent 4 kbit/s.
  public static let uncalledChecks = 50
  /// The same of all addresses that have not answered.
  public static let uncalledChecksInAll = 2_000
  /// The time in which those are counted.
  public static let uncalledWindow = TimeDelta.seconds(10)
  /// IP addresses of which that is kept: with all of them, more are sent nothing until the window is over.
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

  // MARK: - Key frames: each costs everybody on the same encoder ten pictures' bits

  /// What a viewer may ask for of an encoder that others watch too: two a minute for long.
  public static let sharedKeyFrames = Allowance(burst: 2, refill: .seconds(30))
  /// What it may ask for where it is alone: they cost the processor's time, which is everybody's.
  public static let ownKeyFrames = Allowance(burst: 5, refill: .seconds(2))
  /// First pictures, of one who begins to be sent to and ends again and again.
  public static let firstKeyFrames = Allowance(burst: 4, refill: .seconds(5))
  /// Between two key frames on what several watch, whoever asks, but for somebody's first picture.
  public static let sharedKeyFrameInterval = TimeDelta.seconds(1)

  // MARK: - Media

  /// Transport-wide feedback and REMB that a session takes in. Browsers send twenty a second, some receivers one for each
  /// frame; each one has the estimate and the encoders' shares computed anew.
  public static let rateFeedback = Allowance(burst: 100, refill: .milliseconds(4))
  /// Sources (SSRC) of a remote peer for which a replay window is kept, 300 bytes each: twice those that its m-sections may
  /// have at a time, since reports come from sources too. The one that was silent longest gives way.
  public static let sources = 128
  /// Videos of one remote peer that are decoded at a time: each has a thread.
  public static let decodedVideos = 32
}
