package import RTCEngine
package import RTCPrimitives

/// Keeps the descriptions of two connections consistent while both sides may change them at any time ("perfect
/// negotiation", W3C WebRTC §10.7): makes offers when due, answers offers, and resolves collisions of offers. Exactly
/// one side must be polite.
package final class PerfectNegotiation: Sendable {
  private let connection: PeerConnection
  private let negotiator: Negotiator
  private let sending: Task<Void, Never>

  /// Whether this side withdraws its offer when both sides offer at once (W3C WebRTC §10.7).
  package let isPolite: Bool

  /// Begins at once: when negotiation is needed, an offer is made.
  /// - Parameter send: sends our descriptions to the remote peer; called one after the other, in order. If it drops a
  ///   description, the connection waits for an answer.
  package init(_ connection: PeerConnection, isPolite: Bool, send: @escaping @Sendable (Description) async -> Void) {
    self.connection = connection
    self.isPolite = isPolite
    let (descriptions, continuation) = AsyncStream.makeStream(of: Description.self)
    let negotiator = Negotiator(politeness: isPolite ? .polite : .impolite, continuation)
    self.negotiator = negotiator
    sending = Task {
      await connection.setNegotiator(negotiator)
      for await description in descriptions { await send(description) }
    }
  }

  deinit { stop() }

  /// Takes a description of the remote peer, in the order of sending.
  /// - Throws: `NegotiationFailure` if it cannot be applied; the connection is unchanged.
  package func receive(_ description: Description) async throws {
    try await connection.negotiate(description, negotiator)
  }

  /// Takes a candidate of the remote peer.
  /// - Throws: `NegotiationFailure` when it cannot be read.
  package func receive(_ candidate: ICECandidateInit) async throws {
    try await connection.addRemoteCandidate(candidate)
  }

  /// Makes no more offers; descriptions made so far are still sent.
  package func stop() {
    let (connection, negotiator) = (connection, negotiator)
    negotiator.end()
    Task { await connection.removeNegotiator(negotiator) }
  }
}

/// How a connection negotiates by itself.
final class Negotiator: Sendable {
  let politeness: Politeness
  private let descriptions: AsyncStream<Description>.Continuation

  init(politeness: Politeness, _ descriptions: AsyncStream<Description>.Continuation) {
    self.politeness = politeness
    self.descriptions = descriptions
  }

  func send(_ description: Description) { descriptions.yield(description) }
  func end() { descriptions.finish() }
}
