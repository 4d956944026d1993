public import RTCPrimitives

/// One m-section (RFC 8866 §5.14 and the attributes that RFC 8829 uses).
public struct MediaDescription: Hashable, Sendable {
  /// The kind of media: the first word of the m-line.
  public var kind: Kind
  /// 0 = rejected or stopped, unless `isBundleOnly`.
  public var port: UInt16
  /// Such as `UDP/TLS/RTP/SAVPF`.
  public var proto: String
  /// The m-line's formats as written, without repeats: payload types for RTP.
  public var formats: [String]
  /// `c=`, such as `IN IP4 0.0.0.0`.
  public var connection: String?
  /// The `b=` lines, at most eight on parsing.
  public var bandwidths: [Bandwidth] = []
  /// `a=mid` (RFC 5888 §4): the m-section's name in bundles and with candidates; nil when it has none.
  public var mid: String?
  /// The direction from the describing side's view.
  public var direction: MediaDirection = .sendrecv
  /// ICE, DTLS and candidates: how the m-section's packets travel.
  public var transport = TransportAttributes()
  /// `a=rtcp`, such as `9 IN IP4 0.0.0.0`.
  public var rtcp: String?
  /// `a=rtcp-mux`: RTP and RTCP share a port (RFC 5761 §5.1.1).
  public var usesRTCPMux = false
  /// `a=rtcp-rsize`: RTCP packets may come without a report before them (RFC 5506 §5).
  public var allowsReducedSizeRTCP = false
  /// `a=bundle-only`: a port of 0 does not reject the m-section (RFC 9143 §6).
  public var isBundleOnly = false
  /// `a=extmap-allow-mixed`: one-byte and two-byte header extensions may both occur (RFC 8285 §6).
  public var allowsMixedHeaderExtensions = false
  /// The `a=extmap` lines, in order.
  public var headerExtensions: [HeaderExtensionDescription] = []
  /// The known formats among `formats`, in the same order.
  public var payloads: [PayloadFormat] = []
  /// The `a=msid` lines, in order and without repeats (RFC 8830).
  public var streamIdentifiers: [MediaStreamIdentifier] = []
  /// The `a=ssrc-group` lines, in order.
  public var sourceGroups: [MediaSourceGroup] = []
  /// The sources of `a=ssrc` lines, one element for each.
  public var sources: [MediaSource] = []
  /// `a=rid` values as written (RFC 8851).
  public var restrictions: [String] = []
  /// `a=simulcast` as written (RFC 8853).
  public var simulcast: String?
  /// RFC 8841.
  public var sctpPort: UInt16?
  /// `a=max-message-size` in bytes, 0 for any size (RFC 8841 §6); nil when it is not said.
  public var maxMessageSize: UInt64?
  /// Everything else, in its order.
  public var otherAttributes: [OtherAttribute] = []

  /// The kind of an m-section's media.
  public enum Kind: Hashable, Sendable {
    case audio, video, application
    case other(String)

    /// The kind that `name`, the first word of an m-line, stands for.
    public init(_ name: String) {
      switch name {
      case "audio": self = .audio
      case "video": self = .video
      case "application": self = .application
      default: self = .other(name)
      }
    }

    /// The first word of the m-line.
    public var name: String {
      switch self {
      case .audio: "audio"
      case .video: "video"
      case .application: "application"
      case .other(let name): name
      }
    }
  }

  /// `b=`: `AS` in kbit/s, `TIAS` in bit/s, others kept by name.
  public struct Bandwidth: Hashable, Sendable {
    /// The word before the colon, such as `AS` or `TIAS`.
    public var type: String
    /// The bandwidth, in the unit that `type` implies.
    public var value: UInt64
    /// The bandwidth `value` in the unit of `type`.
    public init(type: String, value: UInt64) {
      self.type = type
      self.value = value
    }
  }

  /// An m-section with the given m-line and no attributes.
  public init(kind: Kind, port: UInt16 = 9, proto: String = "UDP/TLS/RTP/SAVPF", formats: [String]) {
    self.kind = kind
    self.port = port
    self.proto = proto
    self.formats = formats
  }

  /// True when the section is turned off, rather than merely waiting for its bundle.
  public var isRejected: Bool { port == 0 && !isBundleOnly }

  /// The format of payload type `type`; nil when the m-section does not describe it.
  public func payload(_ type: PayloadType) -> PayloadFormat? { payloads.first { $0.payloadType == type } }

  /// By payload type, the one whose packets repeat its packets (RFC 4588).
  public var retransmissions: [PayloadType: PayloadType] {
    var result: [PayloadType: PayloadType] = [:]
    for payload in payloads {
      guard let original = payload.associatedPayloadType, result[original] == nil else { continue }
      result[original] = payload.payloadType
    }
    return result
  }

  /// The format of retransmissions for `type`, if there is one.
  public func retransmission(of type: PayloadType) -> PayloadFormat? {
    payloads.first { $0.associatedPayloadType == type }
  }
}

/// An attribute without a property of its own.
public struct OtherAttribute: Hashable, Sendable {
  /// The text before the colon.
  public var name: String
  /// Nil for a property attribute.
  public var value: String?
  /// The attribute `a=name:value`, or `a=name` without a value.
  public init(name: String, value: String? = nil) {
    self.name = name
    self.value = value
  }
}

extension MediaDescription {
  func write(into writer: inout SDPWriter) {
    writer.line("m=\(kind.name) \(port) \(proto) " + formats.joined(separator: " "))
    if let connection { writer.line("c=" + connection) }
    for bandwidth in bandwidths { writer.line("b=\(bandwidth.type):\(bandwidth.value)") }
    if let rtcp { writer.attribute("rtcp", rtcp) }
    transport.write(into: &writer)
    if let mid { writer.attribute("mid", mid) }
    if isBundleOnly { writer.attribute("bundle-only") }
    if allowsMixedHeaderExtensions { writer.attribute("extmap-allow-mixed") }
    for headerExtension in headerExtensions { writer.attribute("extmap", headerExtension.text) }
    if kind != .application || direction != .sendrecv { writer.attribute(direction.rawValue) }
    for identifier in streamIdentifiers { writer.attribute("msid", identifier.text) }
    if usesRTCPMux { writer.attribute("rtcp-mux") }
    if allowsReducedSizeRTCP { writer.attribute("rtcp-rsize") }
    for payload in payloads { payload.write(into: &writer) }
    for restriction in restrictions { writer.attribute("rid", restriction) }
    if let simulcast { writer.attribute("simulcast", simulcast) }
    for group in sourceGroups { writer.attribute("ssrc-group", group.text) }
    for source in sources { source.write(into: &writer) }
    if let sctpPort { writer.attribute("sctp-port", "\(sctpPort)") }
    if let maxMessageSize { writer.attribute("max-message-size", "\(maxMessageSize)") }
    for other in otherAttributes { other.write(into: &writer) }
  }
}

extension [OtherAttribute] {
  /// Keeps an attribute while there is room.
  mutating func keep(_ name: String, _ value: Substring?) {
    guard count < PeerLimits.otherAttributes else { return }
    append(OtherAttribute(name: name, value: value.map { String($0) }))
  }
}

extension OtherAttribute {
  func write(into writer: inout SDPWriter) {
    if let value { writer.attribute(name, value) } else { writer.attribute(name) }
  }
}
