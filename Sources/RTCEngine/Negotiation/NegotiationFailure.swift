import RTCWire

/// A description that cannot be used, or a command that cannot be carried out.
package struct NegotiationFailure: Error, Hashable, Sendable {
  /// The kind of a failure.
  package enum Kind: Hashable, Sendable {
    /// The text is not SDP, or breaks its rules.
    case malformed
    /// Valid, but nothing in it that we can send or receive.
    case noCommonCodec
    /// The description requires something unsupported (no BUNDLE, no rtcp-mux, no DTLS fingerprint …).
    case unsupported
    /// The right description at the wrong time.
    case wrongState
  }
  /// The kind of the failure, for programs.
  package var kind: Kind
  /// A sentence for the author of the description, with its full stop.
  package var sentence: String

  /// A failure of a kind, with its sentence.
  package init(kind: Kind, sentence: String) {
    self.kind = kind
    self.sentence = sentence
  }
}

extension NegotiationFailure {
  /// Runs `body`, and translates its errors into sentences for the author of the description.
  static func translating<Result>(
    _ body: () throws(NegotiationError) -> Result
  ) throws(NegotiationFailure) -> Result {
    do throws(NegotiationError) {
      return try body()
    } catch {
      let kind: NegotiationFailure.Kind =
        switch error {
        case .misuse: .wrongState
        case .peer(.noCommonCodec, _): .noCommonCodec
        // The codec is to blame only where one was looked for.
        case .nothingAccepted(let rejections):
          rejections.contains { $0.reason == .noCommonCodec } ? .noCommonCodec : .unsupported
        case .peer(.missingRTCPMux, _), .peer(.notBundled, _), .peer(.unsupportedFingerprint, _),
          .peer(.fingerprintChanged, _):
          .unsupported
        case .peer: .malformed
        }
      throw NegotiationFailure(kind: kind, sentence: "The description cannot be used: \(error).")
    }
  }
}

extension SessionDescription {
  /// Reads a description of the remote peer.
  init(ofPeer text: String) throws(NegotiationFailure) {
    do throws(SDPError) {
      try self.init(parsing: text)
    } catch {
      throw NegotiationFailure(kind: .malformed, sentence: "The description cannot be read: \(error).")
    }
  }
}
