import RTCEngine
import RTCPeer
import RTCSignaling
import RTCSignalingNIO

/// Why publishing failed, in a sentence for whoever asked for it.
public struct PublishFailure: Error, Sendable {
  public enum Kind: Hashable, Sendable {
    /// The URL or the token cannot be used.
    case misuse
    /// No such host, nobody listening, no answer in time, or an answer that says "not now".
    case unreachable
    /// The service refuses us.
    case notPermitted
    /// The service answers, but not as WHIP says.
    case protocolViolation
  }
  public var kind: Kind
  public var sentence: String

  public init(kind: Kind, sentence: String) {
    self.kind = kind
    self.sentence = sentence
  }
}

extension Broadcast {
  /// Publishes to a WHIP service (RFC 9725) and returns when its answer is applied. The end of the connection comes as
  /// `BroadcastEvent.publishEnded`; the resource is deleted when the broadcast stops.
  public func publish(to url: String, token: String?) async throws(PublishFailure) {
    let client = WHIPClient()
    let connection = viewers.makeConnection()
    do {
      let offer = try await connection.createOffer()
      let publication = try await client.publish(to: url, token: token, offer: offer)
      try await connection.accept(answer: publication.answer)
      viewers.follow(connection) { [report] reason in
        report(.publishEnded(reason))
      } cleanUp: {
        try? await client.delete(publication)
        await client.shutdown()
      }
    } catch {
      await connection.close()
      await client.shutdown()
      throw PublishFailure(error, url: url)
    }
  }
}

extension Broadcast {
  /// Sends to a far side whose answer comes by any other way, such as by hand, and returns when the answer is applied. The
  /// end of the connection comes as `BroadcastEvent.publishEnded`.
  /// - Parameter exchange: takes our offer there and brings the answer, both SDP.
  public func connect(
    _ exchange: @Sendable (_ offer: String) async throws -> String
  ) async throws(PublishFailure) {
    let connection = viewers.makeConnection()
    do {
      try await connection.accept(answer: try await exchange(try await connection.createOffer()))
      viewers.follow(connection) { [report] reason in report(.publishEnded(reason)) }
    } catch {
      await connection.close()
      throw PublishFailure(error, url: "the far side")
    }
  }
}

extension PublishFailure.Kind {
  init(_ fault: SignalingFault) {
    self =
      switch fault {
      case .caller: .misuse
      case .network: .unreachable
      case .permission: .notPermitted
      case .server: .protocolViolation
      }
  }
}

extension PublishFailure {
  init(_ error: any Error, url: String) {
    switch error {
    case let error as WHIPError:
      let kind: Kind =
        switch error {
        case .httpStatus(let status, _, _) where status == 404 || status == 405 || status >= 500: .unreachable
        default: Kind(error.fault)
        }
      self.init(kind: kind, sentence: "\(error)")
    case let failure as NegotiationFailure:
      self.init(
        kind: .protocolViolation,
        sentence: "The answer of \(url) is no use: \(failure.sentence) Is this a WHIP service that takes VP8?")
    default:
      self.init(kind: .unreachable, sentence: "\(error)")
    }
  }
}
