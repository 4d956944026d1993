public import RTCPrimitives

/// One m-section (RFC 8866 §5.14 and the attributes that RFC 8829 uses).
public struct MediaDescription: Hashable, Sendable {
  public var kind: Kind
  /// 0 = rejected or stopped, unless `isBundleOnly`.
  public var port: UInt16
  /// Such as `UDP/TLS/RTP/SAVPF`.
  public var proto: String
  /// The m-line's formats as written, without repeats: payload types for RTP.
  public var formats: [String]
  /// `c=`, such as `IN IP4 0.0.0.0`.
  public var connection: String?
  public var bandwidths: [Bandwidth] = []
  public var mid: String?
  /// As seen by the side whose description this is.
  public var direction: MediaDirection = .sendrecv
  public var transport = TransportAttributes()
  /// `a=rtcp`, such as `9 IN IP4 0.0.0.0`.
  public var rtcp: String?
  public var usesRTCPMux = false
  public var allowsReducedSizeRTCP = false
  public var isBundleOnly = false
  public var allowsMixedHeaderExtensions = false
  public var headerExtensions: [HeaderExtensionDescription] = []
  /// Those of `formats` whose meaning is known, in the same order.
  public var payloads: [PayloadFormat] = []
  public var streamIdentifiers: [MediaStreamIdentifier] = []
  public var sourceGroups: [MediaSourceGroup] = []
  public var sources: [MediaSource] = []
  /// `a=rid` values as written (RFC 8851).
  public var restrictions: [String] = []
  /// `a=simulcast` as written (RFC 8853).
  public var simulcast: String?
  /// RFC 8841.
  public var sctpPort: UInt16?
  public var maxMessageSize: UInt64?
  /// Everything else, in its order.
  public var otherAttributes: [OtherAttribute] = []

  public enum Kind: Hashable, Sendable {
    case audio, video, application
    case other(String)

    public init(_ name: String) {
      switch name {
      case "audio": self = .audio
      case "video": self = .video
      case "application": self = .application
      default: self = .other(name)
      }
    }

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
    public var type: String
    public var value: UInt64
    public init(type: String, value: UInt64) {
      self.type = type
      self.value = value
    }
  }

  public init(kind: Kind, port: UInt16 = 9, proto: String = "UDP/TLS/RTP/SAVPF", formats: [String]) {
    self.kind = kind
    self.port = port
    self.proto = proto
    self.formats = formats
  }

  /// True when the section is turned off, rather than merely waiting for its bundle.
  public var isRejected: Bool { port == 0 && !isBundleOnly }

  public func payload(_ type: PayloadType) -> PayloadFormat? { payloads.first { $0.payloadType == type } }

  /// The payload type whose packets repeat those of `type`, if there is one.
  public func retransmission(of type: PayloadType) -> PayloadFormat? {
    payloads.first { $0.associatedPayloadType == type }
  }
}

/// An attribute that has no field of its own.
public struct OtherAttribute: Hashable, Sendable {
  public var name: String
  /// Nil for a property attribute.
  public var value: String?
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

extension OtherAttribute {
  init(_ name: Substring, _ value: Substring?) { self.init(name: String(name), value: value.map { String($0) }) }

  func write(into writer: inout SDPWriter) {
    if let value { writer.attribute(name, value) } else { writer.attribute(name) }
  }
}
