import RTCEngine
import RTCSignaling

/// The reason why publishing failed, as a sentence for the user.
public struct PublishFailure: Error, Sendable {
  /// The kind of a failure.
  public enum Kind: Hashable, Sendable {
    /// The URL or the token cannot be used.
    case misuse
    /// No such host, no server there, no answer in time, or an answer that says "not now".
    case unreachable
    /// The service refuses us.
    case notPermitted
    /// The service answers, but not as WHIP says.
    case protocolViolation
  }
  /// The kind of the failure, for programs.
  public var kind: Kind
  /// A sentence for the person who asked to publish.
  public var sentence: String

  /// A failure of a kind, with its sentence.
  public init(kind: Kind, sentence: String) {
    self.kind = kind
    self.sentence = sentence
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
  /// The connection ended by itself.
  init(_ reason: EndReason) {
    self.init(kind: .unreachable, sentence: "The connection ended: \(reason.sentence)")
  }

  init(_ error: any Error, url: String) {
    switch error {
    case let failure as PublishFailure: self = failure
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
        sentence: "The answer of \(url) is no use: \(failure.sentence) Is this a WHIP service that takes VP8 or H264?")
    default:
      self.init(kind: .unreachable, sentence: "\(error)")
    }
  }
}
