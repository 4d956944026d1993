import RTCDTLS
import RTCPrimitives
import RTCWire

/// The transport in the peer's description.
struct RemoteTransport {
  var credentials: ICECredentials
  var fingerprints: [CertificateFingerprint]
  /// RFC 4145 §4 takes an absent role for `active`.
  var setup: SetupRole
  var trickles: Bool
  var candidates: [CandidateDescription]
  var endOfCandidates: Bool
  /// The m-section that stands for the transport.
  var tag: MediaReference

  /// - Parameter accepted: the positions of the accepted m-sections. The first has the transport (RFC 8843 §7.3);
  ///   values that it omits, as bundle-only m-sections may, are taken from the first m-section of its bundle.
  init(_ description: SessionDescription, accepted: [Int]) throws(NegotiationError) {
    let bundle = description.bundles.first { mids in
      accepted.contains { description.media[$0].mid.map(mids.contains) ?? false }
    }
    let ordered = bundle?.compactMap { mid in accepted.first { description.media[$0].mid == mid } } ?? accepted
    guard let index = ordered.first ?? accepted.first else { throw .nothingAccepted([]) }
    let section = description.media[index]
    tag = MediaReference(index: index, mid: section.mid)
    let first = bundle?.first.flatMap(description.index(mid:)).map { description.media[$0].transport }
    let own = section.transport
    guard let credentials = own.credentials ?? first?.credentials else { throw .peer(.missingICECredentials, tag) }
    self.credentials = credentials
    fingerprints = own.fingerprints.isEmpty ? first?.fingerprints ?? [] : own.fingerprints
    guard !fingerprints.isEmpty else { throw .peer(.missingFingerprint, tag) }
    guard fingerprints.contains(where: \.isCheckable) else { throw .peer(.unsupportedFingerprint, tag) }
    setup = own.setup ?? first?.setup ?? .active
    trickles = own.supportsTrickle || first?.supportsTrickle == true
    let all = own.candidates.isEmpty ? first?.candidates ?? [] : own.candidates
    candidates = all.filter { $0.component == 1 }
    endOfCandidates = own.endOfCandidates || (own.candidates.isEmpty && first?.endOfCandidates == true)
  }

  /// Our role when the peer offered. A free choice makes us the server: Chromium then picks AES-GCM for SRTP.
  func roleWhenAnswering(before: NegotiatedTransport?) throws(NegotiationError) -> DTLSRole {
    let current = before.flatMap { $0.remoteFingerprints == fingerprints ? $0.dtlsRole : nil }
    let role: DTLSRole
    switch setup {
    case .actpass: return current ?? .server
    case .active: role = .server
    case .passive: role = .client
    case .holdconn: throw .peer(.invalidSetup, tag)
    }
    guard current == nil || current == role else { throw .peer(.dtlsRoleChanged, tag) }
    return role
  }

  /// Our role when the peer answered our `actpass`.
  func roleWhenAnswered(before: NegotiatedTransport?) throws(NegotiationError) -> DTLSRole {
    let role: DTLSRole
    switch setup {
    case .active: role = .server
    case .passive: role = .client
    case .actpass, .holdconn: throw .peer(.invalidSetup, tag)
    }
    if let before, before.remoteFingerprints == fingerprints, before.dtlsRole != role {
      throw .peer(.dtlsRoleChanged, tag)
    }
    return role
  }

  /// The certificate of a live session stays: another one would be another peer.
  func checkFingerprints(_ before: NegotiatedTransport?) throws(NegotiationError) {
    guard let before else { return }
    let known = CertificateFingerprint.checkable(among: before.remoteFingerprints)
    guard fingerprints.contains(where: known.contains) else { throw .peer(.fingerprintChanged, tag) }
  }

  /// The agreed transport. The ICE role is settled by the first exchange and then stays.
  func agreed(
    role: DTLSRole, localCredentials: ICECredentials, offered: Bool, remoteIsLite: Bool, before: NegotiatedTransport?
  ) -> NegotiatedTransport {
    NegotiatedTransport(
      localCredentials: localCredentials, remoteCredentials: credentials,
      restartsICE: before.map { $0.remoteCredentials != credentials } ?? false,
      isControlling: remoteIsLite || (before?.isControlling ?? offered), remoteIsLite: remoteIsLite,
      remoteTrickles: trickles, remoteCandidates: candidates, remoteEndOfCandidates: endOfCandidates,
      remoteFingerprints: fingerprints, dtlsRole: role, tag: tag)
  }
}

extension SessionDescription {
  /// Checks that BUNDLE groups name m-sections that exist, each once (RFC 8843 §7.1).
  func checkBundles() throws(NegotiationError) {
    var seen: Set<String> = []
    let mids = Set(media.compactMap(\.mid))
    for mid in bundles.joined() {
      guard mids.contains(mid) else { throw .peer(.unknownBundleMid(mid)) }
      guard seen.insert(mid).inserted else { throw .peer(.midBundledTwice(mid)) }
    }
  }

  func reference(_ index: Int) -> MediaReference { MediaReference(index: index, mid: media[index].mid) }
}

extension NegotiatedMedia {
  /// Takes the sources and limits of the peer's m-section.
  mutating func adopt(_ section: MediaDescription) {
    remoteSources = section.sources
    remoteSourceGroups = section.sourceGroups
    remoteStreamIdentifiers = section.streamIdentifiers
    let limits = section.bandwidths.compactMap { bandwidth -> Int64? in
      guard bandwidth.value > 0, let value = Int64(exactly: bandwidth.value), value < 1 << 40 else { return nil }
      return bandwidth.type == "TIAS" ? value : bandwidth.type == "AS" ? value * 1_000 : nil
    }
    remoteBandwidth = limits.min().map { .bitsPerSecond($0) }
  }
}
