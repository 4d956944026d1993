/// Why a step of the negotiation was refused. The negotiation is then as it was before the step.
package enum NegotiationError: Error, Hashable, Sendable {
  /// The caller's fault.
  case misuse(Misuse)
  /// The peer's description breaks a rule; the m-section is named where one is to blame.
  case peer(Fault, MediaReference? = nil)
  /// Both descriptions are well-formed but have nothing in common; the reason for each m-section.
  case nothingAccepted([Rejection])

  /// A mistake of the caller.
  package enum Misuse: Hashable, Sendable {
    case wrongState(SignalingState)
    /// The peer restarts ICE; `transport.credentials` must be replaced before answering (RFC 8839 §4.4.1.1.1).
    case freshCredentialsNeeded
    /// An offer needs at least one transceiver.
    case nothingToOffer
  }

  /// A fault of the remote peer's description.
  package enum Fault: Hashable, Sendable {
    case missingICECredentials
    case missingFingerprint
    /// There are fingerprints, but none is SHA-256.
    case unsupportedFingerprint
    /// The certificate differs from the live session's.
    case fingerprintChanged
    /// `holdconn`, or `actpass` in an answer.
    case invalidSetup
    /// The answer to our ICE restart has the credentials of before (RFC 8839 §4.4.2).
    case restartIgnored
    /// The DTLS role differs on the same DTLS association (RFC 8842 §5.5).
    case dtlsRoleChanged
    case missingRTCPMux
    /// BUNDLE names a mid that no m-section has.
    case unknownBundleMid(String)
    /// One mid in two BUNDLE groups.
    case midBundledTwice(String)
    /// The answer accepts an m-section outside the one bundle.
    case notBundled
    case sectionCount(expected: Int, got: Int)
    /// The kind or mid of the m-section has changed.
    case sectionChanged
    /// The answer accepts an m-section that the offer turned off.
    case acceptedRejectedSection
    case noCommonCodec
    /// The answer to our m-section for data channels is of another protocol.
    case noDataChannels
  }
}

/// An m-section by position and mid.
package struct MediaReference: Hashable, Sendable {
  /// Counted from 0.
  package var index: Int
  /// The m-section's `a=mid` (RFC 5888); nil when it has none.
  package var mid: String?
  /// An m-section by its place in the description, from 0.
  package init(index: Int, mid: String?) {
    self.index = index
    self.mid = mid
  }
}

/// An m-section that came to nothing, and why.
package struct Rejection: Hashable, Sendable {
  /// The m-section that came to nothing.
  package var media: MediaReference
  /// Why it came to nothing.
  package var reason: Reason

  /// Why an m-section came to nothing.
  package enum Reason: Hashable, Sendable {
    case turnedOffByPeer, unsupportedKind, unsupportedProtocol, noRTCPMux, noTransceiver, noCommonCodec, outsideBundle
  }

  /// A rejection of one m-section.
  package init(media: MediaReference, reason: Reason) {
    self.media = media
    self.reason = reason
  }
}

extension NegotiationError: CustomStringConvertible {
  /// The refused request and the reason, without a full stop, for logs and sentences.
  package var description: String {
    switch self {
    case .misuse(.wrongState(let state)): "not possible in signaling state \(state)"
    case .misuse(.freshCredentialsNeeded): "the peer restarts ICE: replace the local ICE credentials before answering"
    case .misuse(.nothingToOffer): "there is no transceiver to offer"
    case .peer(let fault, nil): "\(fault)"
    case .peer(let fault, let media?): "\(media): \(fault)"
    case .nothingAccepted(let rejections):
      rejections.isEmpty
        ? "no media in the description"
        : "nothing in common: " + rejections.map { "\($0.media) \($0.reason)" }.joined(separator: ", ")
    }
  }
}

extension MediaReference: CustomStringConvertible {
  /// For logs, such as `m-section 0 (mid 1)`.
  package var description: String { "m-section \(index)" + (mid.map { " (mid \($0))" } ?? "") }
}

extension NegotiationError.Fault: CustomStringConvertible {
  /// The fault, without a full stop, for logs and sentences.
  package var description: String {
    switch self {
    case .missingICECredentials: "no ICE user name fragment and password"
    case .missingFingerprint: "no certificate fingerprint"
    case .unsupportedFingerprint: "no certificate fingerprint by SHA-256, SHA-384 or SHA-512"
    case .fingerprintChanged: "another certificate fingerprint than this session began with; open a new session"
    case .restartIgnored: "our ICE restart is answered with the credentials of before"
    case .invalidSetup: "a=setup has a value that is not allowed here"
    case .dtlsRoleChanged: "a=setup swaps the roles of a live DTLS association"
    case .missingRTCPMux: "no a=rtcp-mux"
    case .unknownBundleMid(let mid): "BUNDLE names mid \(mid), which no m-section has"
    case .midBundledTwice(let mid): "mid \(mid) is in two BUNDLE groups"
    case .notBundled: "accepted outside the bundle"
    case .sectionCount(let expected, let got): "\(got) m-sections where \(expected) were due"
    case .sectionChanged: "another kind or mid than before"
    case .acceptedRejectedSection: "accepted though it was offered as turned off"
    case .noCommonCodec: "no codec in common"
    case .noDataChannels: "not an m-section for data channels"
    }
  }
}

extension Rejection.Reason: CustomStringConvertible {
  /// The text after the m-section's name in a sentence, such as `has no rtcp-mux`.
  package var description: String {
    switch self {
    case .turnedOffByPeer: "is turned off by the peer"
    case .unsupportedKind: "is of an unsupported kind"
    case .unsupportedProtocol: "uses an unsupported protocol"
    case .noRTCPMux: "has no rtcp-mux"
    case .noTransceiver: "finds no use here"
    case .noCommonCodec: "has no codec in common"
    case .outsideBundle: "is outside the bundle"
    }
  }
}
