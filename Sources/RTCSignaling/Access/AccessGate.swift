package import RTCPrimitives
import Synchronization

/// Access control of a server: decides which rights a request or a registration at the hub has.
///
/// A server is open, or has a secret. The secret gives every right; a link signed with it (`SignedLink`) gives one. A
/// hub may also have tokens for single names. Any thread.
public final class AccessGate: Sendable {
  /// By how many seconds a signer's clock may be ahead of ours.
  public static let clockLeeway: Int64 = 600

  /// Everybody has every right.
  public let isOpen: Bool
  let state: Mutex<State>

  struct State {
    var secret: AccessToken?
    var perPeer: [String: AccessToken] = [:]
    /// The links of several servers; nil: this one stands alone.
    var shared: (any SharedAccess)?
    var ledger = LinkLedger()
    var keep: @Sendable (LinkLedger) -> Void = { _ in }
    var wrongTries = WrongTries()
  }

  /// - Parameters:
  ///   - secret: nil: only names with tokens of their own are admitted, and only to the hub.
  ///   - perPeer: tokens by names at the hub; such a name can be taken with its own token only.
  ///   - ledger: the links used up and revoked before.
  ///   - keep: receives the ledger whenever it has changed; on any thread, one call at a time.
  public init(
    secret: AccessToken?, perPeer: [String: AccessToken] = [:], ledger: LinkLedger = LinkLedger(),
    keep: @escaping @Sendable (LinkLedger) -> Void = { _ in }
  ) {
    isOpen = false
    state = Mutex(State(secret: secret, perPeer: perPeer, ledger: ledger, keep: keep))
  }

  private init() {
    isOpen = true
    state = Mutex(State())
  }

  /// Nil: nobody has every right.
  public var secret: AccessToken? { state.withLock { $0.secret } }

  /// Everybody who can reach the server may do everything.
  public static func open() -> AccessGate { AccessGate() }

  /// A gate with a new secret.
  public static func fresh() -> AccessGate { AccessGate(secret: .fresh()) }

  /// Takes over the secret, the tokens of single names and the list of used links of another gate. What was admitted before goes
  /// on. If the secret is the same, this gate's own list stays, because it is newer.
  /// - Precondition: Both gates are open, or neither is.
  public func adopt(_ other: AccessGate) {
    precondition(isOpen == other.isOpen, "An open gate stays open, and a closed one closed.")
    let new = other.state.withLock { ($0.secret, $0.perPeer, $0.ledger, $0.keep) }
    let shared = state.withLock { state -> (any SharedAccess)? in
      state.perPeer = new.1
      guard state.secret != new.0 else { return nil }
      (state.secret, state.ledger, state.keep) = (new.0, new.2, new.3)
      return state.shared
    }
    shared?.add(new.2)
  }

  // MARK: - Letting in

  /// Decides whether a credential gives the right.
  /// - Parameters:
  ///   - peer: with `.call`, the name to be taken at the hub; nil: none.
  ///   - client: the client's identifier; see `use`.
  ///   - isNew: whether this would be one more use of a link with a limited number of uses.
  ///   - address: the client's IP address; wrong tries are counted by address.
  package func evaluate(
    _ shown: String?, for right: AccessRight, peer: String? = nil, client: String? = nil, isNew: Bool = false,
    from address: String, now: AccessTime
  ) throws(AccessRefusal) -> AccessGrant {
    if isOpen { return .everybody }
    guard let shown, !shown.isEmpty else { throw .missing }
    // Others count no tries of clients that are slowed already: guessing must not cost them anything.
    var toldOthers: (any SharedAccess)?
    let result = state.withLock { state -> Result<AccessGrant, AccessRefusal> in
      // A right token is admitted, whatever other clients of the address have shown.
      let wait = state.wrongTries.wait(address, now: now.monotonic)
      if let wait, Self.isGuessable(shown, right, peer, state), !state.wrongTries.mayLook(address, now: now.monotonic) {
        return .failure(.slowed(seconds: wait))
      }
      do throws(AccessRefusal) {
        let grant = try Self.check(shown, right, peer: peer, now.unix, state)
        guard let link = grant.link else { return .success(grant) }
        if state.ledger.isRevoked(link.id) { throw .revoked }
        if isNew, state.shared == nil, !state.ledger.admits(link, client: client) { throw .usedUp }
        return .success(grant)
      } catch {
        guard error == .wrong else { return .failure(error) }
        state.wrongTries.note(address, now: now.monotonic)
        if wait == nil { toldOthers = state.shared }
        return .failure(wait.map { .slowed(seconds: $0) } ?? .wrong)
      }
    }
    toldOthers?.noteWrongTry(from: address)
    return try result.get()
  }

  /// Whether what was shown may be a guess at a secret so short that looking at every guess would give it away in time. A signed
  /// link is no guess, and a long secret cannot be guessed.
  private static func isGuessable(_ shown: String, _ right: AccessRight, _ peer: String?, _ state: State) -> Bool {
    guard SignedLink.id(of: shown) == nil else { return false }
    let own = right == .call ? peer.flatMap { state.perPeer[$0] } : nil
    guard let expected = own ?? state.secret else { return false }
    return expected.bytes.count < shortestStrongSecret
  }

  /// Bytes of a secret that cannot be guessed at any rate that a network carries.
  package static let shortestStrongSecret = 16

  private static func check(
    _ shown: String, _ right: AccessRight, peer: String?, _ unixTime: Int64, _ state: State
  ) throws(AccessRefusal) -> AccessGrant {
    let own = right == .call ? peer.flatMap { state.perPeer[$0] } : nil
    if let own, let peer, own.admits(shown) { return .peer(peer) }
    if own == nil, state.secret?.admits(shown) == true { return .owner }
    guard let secret = state.secret, let link = SignedLink(shown, signedWith: secret) else { throw .wrong }
    if link.issued > unixTime + clockLeeway { throw .clock(seconds: link.issued - unixTime) }
    if let expires = link.expires, expires <= unixTime { throw .expired(seconds: unixTime - expires) }
    guard link.right == right else { throw .otherRight(link.right) }
    guard right == .call, let peer else { return .link(link) }
    if let name = link.name, name != peer { throw .otherName(name) }
    // The owner who signed a link with the name knew that the name has a token of its own.
    if own != nil, link.name == nil { throw .wrong }
    return .link(link)
  }

  /// The name that a link for calls is for, without a look at its signature.
  package func name(in shown: String?) -> String? {
    guard let shown, let secret, let link = SignedLink(shown, signedWith: secret) else { return nil }
    return link.name
  }

  // MARK: - Uses

  /// Uses a grant: throws if the link has been revoked or has expired since it was judged, and counts one use. If several
  /// servers share the uses, nothing is counted here: see `count`, and `PresenceClaim.link`.
  /// - Parameter client: an unguessable, constant identifier of the client, so that a return is not another use.
  /// - Returns: whether a use was counted, which `giveBack` may undo.
  @discardableResult
  package func use(_ grant: AccessGrant, client: String?, now: AccessTime) throws(AccessRefusal) -> Bool {
    guard let link = grant.link else { return false }
    let isShared = state.withLock { $0.shared != nil }
    let result = change(now) { ledger -> Result<Bool, AccessRefusal> in
      if let refusal = Self.end(of: link, ledger, now) { return .failure(refusal) }
      guard link.uses != nil, !isShared else { return .success(false) }
      let isKnown = ledger.isKnown(link, client: client)
      return ledger.use(link, client: client) ? .success(!isKnown) : .failure(.usedUp)
    }
    return try result.get()
  }

  /// Throws if the link of a grant has been revoked or has expired since, for sessions that took time to open.
  package func recheck(_ grant: AccessGrant, now: AccessTime) throws(AccessRefusal) {
    guard let link = grant.link else { return }
    if let refusal = state.withLock({ Self.end(of: link, $0.ledger, now) }) { throw refusal }
  }

  private static func end(of link: SignedLink, _ ledger: LinkLedger, _ now: AccessTime) -> AccessRefusal? {
    if ledger.isRevoked(link.id) { return .revoked }
    if let expires = link.expires, expires <= now.unix { return .expired(seconds: now.unix - expires) }
    return nil
  }

  /// Undoes a counted use, because the request was refused later.
  package func giveBack(_ grant: AccessGrant, client: String?, now: AccessTime) {
    guard let link = grant.link, link.uses != nil else { return }
    change(now) { $0.giveBack(link, client: client) }
  }

  // MARK: - Revoking

  /// Revokes a link.
  /// - Parameter written: the link, its token, or its identifier.
  /// - Returns: the identifier.
  package func revoke(_ written: String, now: AccessTime) throws(RevocationError) -> String {
    let token = Self.token(in: written)
    let secret = secret
    if secret?.admits(token) == true { throw .ownSecret }
    let id: String
    var expires: Int64?
    if let claimed = SignedLink.id(of: token) {
      guard let secret, let link = SignedLink(token, signedWith: secret) else { throw .otherSecret }
      (id, expires) = (claimed, link.expires)
    } else {
      guard (8...32).contains(token.utf8.count), token.utf8.allSatisfy(Base64URL.isLetter) else { throw .noLink }
      id = token
    }
    change(now) { $0.revoke(id, expires: expires) }
    state.withLock { $0.shared }?.revoke(id, expires: expires)
    return id
  }

  private static func token(in written: String) -> String {
    guard let mark = written.firstIndex(of: "#") else { return written }
    return LinkFragment(written[written.index(after: mark)...]).token ?? written
  }

  @discardableResult
  func change<Result>(_ now: AccessTime, _ body: (inout LinkLedger) -> Result) -> Result {
    state.withLock { state in
      let before = state.ledger
      let result = body(&state.ledger)
      state.ledger.prune(now.unix)
      if state.ledger != before { state.keep(state.ledger) }
      return result
    }
  }
}

/// The credential by which a client was admitted.
package enum AccessGrant: Sendable, Hashable {
  /// The server is open.
  case everybody
  /// The server's own secret: every right.
  case owner
  /// The token of that one name at the hub.
  case peer(String)
  /// A link that the owner signed.
  case link(SignedLink)

  /// Nil if the client came without a signed link.
  package var link: SignedLink? { if case .link(let link) = self { link } else { nil } }
}

/// A right at a server. The owner's secret gives all rights; a signed link gives one.
public enum AccessRight: String, Sendable, CaseIterable {
  /// The right to see a cast, or a stream at a hub (WHEP).
  case watch
  /// Send a stream to a hub (WHIP).
  case publish
  /// Take a name at a hub: call, be called, enter rooms.
  case call
  /// Read the figures: `/metrics`, and the details of `/health`.
  case metrics

  /// The letter in a signed link.
  var letter: Character { rawValue.first ?? "-" }

  init?(letter: some StringProtocol) {
    guard let right = Self.allCases.first(where: { String($0.letter) == letter }) else { return nil }
    self = right
  }

  /// The end of "This link is for …".
  var gerund: String {
    switch self {
    case .watch: "watching"
    case .publish: "publishing"
    case .call: "calling"
    case .metrics: "reading figures"
    }
  }
}

/// The two clocks that access goes by.
package struct AccessTime: Sendable, Hashable {
  /// Seconds since 1970: for the ends of links.
  package var unix: Int64
  /// Monotonic time, for rate limits.
  package var monotonic: Timestamp

  package init(unix: Int64, monotonic: Timestamp) {
    self.unix = unix
    self.monotonic = monotonic
  }
}
