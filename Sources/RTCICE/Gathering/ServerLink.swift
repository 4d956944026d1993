import RTCPrimitives
import RTCWire

/// The way to one server: requests that are under way, credentials, redirections.
struct ServerLink {
  enum Outcome {
    /// Not for us, or not authentic.
    case ignored
    /// The request is to be written again.
    case again(ServerTransaction)
    case success(ServerTransaction)
    case error(ServerTransaction, STUNErrorCode)
    case failed(ServerTransaction, ICEServerFailure)
  }

  /// The first wait before a retransmission (RFC 8489 §6.2.1), until a round trip was measured.
  private static let initialRTO = TimeDelta.milliseconds(500)
  private static let minimumRTO = TimeDelta.milliseconds(100)
  private static let maximumRedirects = 2
  /// The longest request without user name, realm and nonce.
  private static let plainMessageCapacity = 640

  private(set) var server: CandidateGatherer.Server
  /// The route of requests; a redirection changes it.
  private(set) var route: Route
  private(set) var credential: LongTermCredential
  private(set) var transactions: [ServerTransaction] = []
  /// The round-trip time of the latest request without retransmission.
  private(set) var roundTripTime: TimeDelta?
  /// The address on this machine that the server's latest answer came to.
  private(set) var localAddress: SocketAddress?
  private var visited: [SocketAddress]
  /// Newer credentials wait for the next allocation.
  private(set) var hasRenewed = false
  private var random: SeededGenerator

  init(_ server: CandidateGatherer.Server, seed: UInt64) {
    self.server = server
    route = server.route
    credential = LongTermCredential(username: server.username, password: server.credential)
    visited = [server.route.remote]
    random = SeededGenerator(seed: seed)
  }

  var nextDeadline: Timestamp { transactions.reduce(.distantFuture) { min($0, $1.dueAt) } }

  func isUnderWay(_ purpose: ServerTransaction.Purpose) -> Bool { transactions.contains { $0.purpose == purpose } }

  /// A number from 0 up to 1.
  mutating func nextUnit() -> Double { random.nextUnit() }

  /// Other credentials for the same server, which count from `takeRenewed` on.
  mutating func renew(_ server: CandidateGatherer.Server) {
    hasRenewed = server.username != self.server.username || server.credential != self.server.credential
    self.server = server
  }

  /// Uses the latest credentials from now on.
  mutating func takeRenewed() {
    guard hasRenewed else { return }
    hasRenewed = false
    credential = LongTermCredential(username: server.username, password: server.credential)
  }

  // MARK: - Sending

  /// Sends a request with what `attributes` writes, authenticated when the server has asked for that.
  mutating func send(
    _ purpose: ServerTransaction.Purpose, isReissue: Bool = false, now: Timestamp, into batch: inout DatagramBatch,
    _ attributes: (inout STUNMessageWriter) -> Void
  ) {
    let id = STUNTransactionID(using: &random)
    let message = write(purpose.method, id, attributes)
    batch.append(message.span, to: route)
    let rto = roundTripTime.map { min(Self.initialRTO, max(Self.minimumRTO, $0 * 3)) } ?? Self.initialRTO
    transactions.append(
      ServerTransaction(
        id: id, purpose: purpose, message: message, credential: credential,
        firstWait: server.transport == .udp ? rto : nil, isReissue: isReissue, now: now))
  }

  private func write(
    _ method: STUNMethod, _ id: STUNTransactionID, _ attributes: (inout STUNMessageWriter) -> Void
  ) -> [UInt8] {
    let challenge = credential.challenge
    let texts = challenge.map { credential.username.count + $0.realm.count + $0.nonce.count } ?? 0
    var bytes = [UInt8](repeating: 0, count: Self.plainMessageCapacity + texts)
    var span = bytes.mutableSpan
    var writer = STUNMessageWriter(
      .request, method: method, transactionID: id, into: span._mutatingExtracting(0..<span.count))
    attributes(&writer)
    if let challenge {
      writer.write(.username, credential.username.span)
      writer.write(.realm, challenge.realm.span)
      writer.write(.nonce, challenge.nonce.span)
    }
    let count = writer.finish(key: challenge?.key, hasFingerprint: false)
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Sends an indication, which nothing answers.
  mutating func indicate(
    _ method: STUNMethod, capacity: Int, into batch: inout DatagramBatch,
    _ attributes: (inout STUNMessageWriter) -> Void
  ) {
    let id = STUNTransactionID(using: &random)
    batch.append(to: route, capacity: capacity) { out in
      var writer = STUNMessageWriter(
        .indication, method: method, transactionID: id, into: out._mutatingExtracting(0..<out.count))
      attributes(&writer)
      return writer.finish(key: nil, hasFingerprint: false)
    }
  }

  /// Repeats due requests.
  /// - Returns: the requests that are given up, and the reasons.
  mutating func repeatDue(now: Timestamp, into batch: inout DatagramBatch) -> [(ServerTransaction, ICEServerFailure)] {
    var givenUp: [(ServerTransaction, ICEServerFailure)] = []
    for i in transactions.indices where transactions[i].dueAt <= now {
      let transaction = transactions[i]
      if transaction.isLastTransmission {
        let failure = ICEServerFailure.noAnswer(after: now - transaction.startedAt)
        givenUp.append((transaction, transaction.isMarred ? .badIntegrity : failure))
      } else {
        transactions[i].advance(now: now)
        batch.append(transaction.message.span, to: route)
      }
    }
    if !givenUp.isEmpty { transactions.removeAll { request in givenUp.contains { $0.0.id == request.id } } }
    return givenUp
  }

  /// Forgets all requests: answers to them are ignored.
  mutating func cancelAll() { transactions.removeAll() }

  // MARK: - Receiving

  /// Evaluates a response; the caller reads its further attributes.
  mutating func take(_ message: STUNMessage, on route: Route, now: Timestamp) -> Outcome {
    let id = message.header.transactionID
    guard let index = transactions.firstIndex(where: { $0.id == id }) else { return .ignored }
    let request = transactions[index]
    guard request.purpose.method == message.header.method, !message.hasFingerprint || message.hasValidFingerprint else {
      return .ignored
    }
    let code = message.errorCode
    switch message.header.class {
    case .request, .indication: return .ignored
    case .error where code == nil: return .ignored
    case .success, .error: break
    }
    guard isBelievable(message, to: request, code) else { return mar(index) }
    transactions.remove(at: index)
    localAddress = route.local
    if request.transmissions == 1 { roundTripTime = now - request.startedAt }
    guard let code, message.header.class == .error else {
      if request.isAuthenticated { credential.accepted() }
      return .success(request)
    }
    guard code == .unauthenticated || code == .staleNonce else {
      if request.isAuthenticated { credential.accepted() }
      return .error(request, code)
    }
    switch credential.challenged(by: message, to: request) {
    case .again: return .again(request)
    case .failed(let failure): return .failed(request, failure)
    }
  }

  /// RFC 8489 §9.2.5. A challenge cannot be authenticated. Some servers (Pion's) authenticate no errors at all; theirs are
  /// believed where silence would come to the same. They end no allocation that works.
  private func isBelievable(_ message: STUNMessage, to request: ServerTransaction, _ code: STUNErrorCode?) -> Bool {
    guard request.isAuthenticated, let key = credential.challenge?.key else { return true }
    if message.hasMessageIntegrity { return message.isAuthentic(key: key) }
    guard message.header.class == .error else { return false }
    return code == .unauthenticated || code == .staleNonce || request.purpose != .refresh && code != .allocationMismatch
      || request.purpose == .allocate
  }

  private mutating func mar(_ index: Int) -> Outcome {
    transactions[index].isMarred = true
    guard server.transport != .udp else { return .ignored }
    return .failed(transactions.remove(at: index), .badIntegrity)
  }

  // MARK: - Redirection

  /// The server names another server of its kind (300, RFC 8489 §10). The request is then to be written again.
  /// - Returns: the reason for refusing; nil if the other server is asked from now on.
  mutating func redirect(by message: STUNMessage) -> ICEServerFailure? {
    guard let address = message.alternateServer else { return .malformedAnswer(missing: "an alternate server") }
    guard address.ip.isV4 == route.remote.ip.isV4, isAskable(address), !visited.contains(address),
      visited.count <= Self.maximumRedirects
    else { return .redirectRefused }
    guard server.transport == .udp else { return .redirected(to: address) }
    visited.append(address)
    route.remote = address
    credential.forgetChallenge()
    cancelAll()
    return nil
  }

  /// No server may make us talk to our own machine or link (cloud metadata services live there), unless it is there itself.
  private func isAskable(_ address: SocketAddress) -> Bool {
    let ip = server.route.remote.ip
    return address.isOfOneHost && (!address.ip.isLoopback || ip.isLoopback)
      && (!address.ip.isLinkLocal || ip.isLinkLocal)
  }
}
