package import RTCEngine
package import RTCPrimitives

/// Keeps two connections agreed while both sides change things whenever they like ("perfect negotiation",
/// W3C WebRTC §10.7): offers when an offer is due, answers offers, and settles who gives way when both have offered.
/// Exactly one of the two sides must be polite.
package final class PerfectNegotiation: Sendable {
  private let connection: PeerConnection
  private let negotiator: Negotiator
  private let sending: Task<Void, Never>

  /// Gives way when both sides offer at once (W3C WebRTC §10.7).
  package let isPolite: Bool

  /// Begins at once: when something is to be agreed, an offer is made.
  /// - Parameter send: takes our descriptions to the remote peer; called one after the other, in order. One that throws away
  ///   what it cannot deliver leaves the connection waiting for an answer.
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

  /// Takes a description of the remote peer; in the order they were sent.
  /// - Throws: `NegotiationFailure` when it cannot be used; the connection goes on as before.
  package func receive(_ description: Description) async throws {
    try await connection.negotiate(description, negotiator)
  }

  /// Takes a candidate of the remote peer.
  /// - Throws: `NegotiationFailure` when it cannot be read.
  package func receive(_ candidate: ICECandidateInit) async throws {
    try await connection.addRemoteCandidate(candidate)
  }

  /// Makes no more offers; what was made is still sent.
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
