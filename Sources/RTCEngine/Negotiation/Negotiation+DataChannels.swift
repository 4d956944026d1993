import RTCPrimitives
import RTCWire

/// Our parameters of data channels (RFC 8841).
package struct LocalDataChannels: Hashable, Sendable {
  /// Our SCTP port, 5000 unless changed (`a=sctp-port`, RFC 8841 §5.1).
  package var port = MediaDescription.usualSCTPPort
  /// The longest message we take, in bytes.
  package var maximumMessageSize: UInt64
  /// True: the next offer has an m-section for them. Else they come about only when the peer offers one.
  package var isWanted = false

  /// Data channels on the usual port, 5000.
  package init(maximumMessageSize: UInt64, isWanted: Bool = false) {
    self.maximumMessageSize = maximumMessageSize
    self.isWanted = isWanted
  }
}

/// The m-section for data channels that both sides accepted.
package struct NegotiatedDataChannels: Hashable, Sendable {
  /// The m-section.
  package var reference: MediaReference
  /// Our SCTP port.
  package var localPort: UInt16
  /// The remote peer's SCTP port.
  package var remotePort: UInt16
  /// The longest message the peer takes, in bytes; nil: any.
  package var remoteMaximumMessageSize: UInt64?
}

extension Negotiation {
  /// True when channels are wanted and no description so far has an m-section for them: an offer is needed.
  package var needsDataChannelSection: Bool {
    guard dataChannels?.isWanted == true else { return false }
    let lines =
      switch state {
      case .haveLocalOffer(let offer, _): offer.lines
      case .stable(let agreement), .haveRemoteOffer(_, let agreement), .closed(let agreement): agreement?.lines ?? []
      }
    return !lines.contains { $0.use == .dataChannels }
  }

  /// Gives wanted channels an m-section, one that was turned off by both if there is such.
  func addDataChannelLine(to lines: inout [MediaLine], _ before: Agreement?) {
    if dataChannels == nil {
      for index in lines.indices where lines[index].use == .dataChannels { lines[index].use = .rejected }
      return
    }
    guard dataChannels?.isWanted == true, !lines.contains(where: { $0.use == .dataChannels }) else { return }
    let line = MediaLine(mid: unusedMid(lines, before), kind: .application, use: .dataChannels)
    let free = lines.indices.first { index in
      lines[index].use == .rejected && lines[index].kind == .application && before?.lines[index].use == .rejected
    }
    if let free { lines[free] = line } else { lines.append(line) }
  }

  /// After one side has turned the channels' m-section off, it is not offered again until channels are requested.
  /// - Returns: whether it was turned off.
  mutating func turnOffDataChannels(_ before: [MediaLine], _ after: [MediaLine]) -> Bool {
    guard before.contains(where: { $0.use == .dataChannels }), !after.contains(where: { $0.use == .dataChannels })
    else {
      return false
    }
    dataChannels?.isWanted = false
    return true
  }

  /// Our m-section for data channels; `offered` is the peer's when answering, whose form it keeps.
  func dataChannelSection(
    _ line: MediaLine, answering offered: MediaDescription? = nil, credentials: ICECredentials, setup: SetupRole
  ) -> MediaDescription {
    let local = dataChannels ?? LocalDataChannels(maximumMessageSize: MediaDescription.assumedMaximumMessageSize)
    var section = MediaDescription.dataChannels(
      mid: line.mid, port: local.port, maximumMessageSize: local.maximumMessageSize)
    section.mid = line.saysMid ? line.mid : nil
    section.connection = "IN IP4 0.0.0.0"
    section.transport.credentials = credentials
    section.transport.iceOptions = ["trickle"]
    section.transport.fingerprints = [CertificateFingerprint(algorithm: "sha-256", bytes: transport.fingerprint)]
    section.transport.setup = setup
    guard let offered else { return section }
    section.proto = offered.proto
    if offered.isOlderDataChannelForm {
      section.formats = ["\(local.port)"]
      section.sctpPort = nil
      section.otherAttributes = [
        OtherAttribute(name: "sctpmap", value: "\(local.port) webrtc-datachannel 1024")
      ]
    }
    return section
  }

  /// Reads the peer's accepted m-section.
  func agreeOnDataChannels(
    _ section: MediaDescription, _ reference: MediaReference
  ) throws(NegotiationError) -> NegotiatedDataChannels {
    guard section.isForDataChannels, let port = section.remoteSCTPPort else {
      throw .peer(.noDataChannels, reference)
    }
    return NegotiatedDataChannels(
      reference: reference, localPort: dataChannels?.port ?? MediaDescription.usualSCTPPort, remotePort: port,
      remoteMaximumMessageSize: section.acceptedMessageSize)
  }
}
