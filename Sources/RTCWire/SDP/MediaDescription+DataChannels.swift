extension MediaDescription {
  /// The port that all implementations use. It has no function, as DTLS has found the path already.
  public static let usualSCTPPort: UInt16 = 5000
  /// The maximum message size of a peer that states none (RFC 8841 §6.1).
  public static let assumedMaximumMessageSize: UInt64 = 65_536

  /// A section for data channels (RFC 8841).
  public static func dataChannels(
    mid: String, port: UInt16 = usualSCTPPort, maximumMessageSize: UInt64
  ) -> MediaDescription {
    var media = MediaDescription(kind: .application, proto: "UDP/DTLS/SCTP", formats: ["webrtc-datachannel"])
    media.mid = mid
    media.sctpPort = port
    media.maxMessageSize = maximumMessageSize
    return media
  }

  /// True for sections that carry data channels, also in the form of before RFC 8841 (`DTLS/SCTP 5000`, `a=sctpmap`).
  public var isForDataChannels: Bool {
    guard kind == .application else { return false }
    switch proto {
    case "UDP/DTLS/SCTP", "TCP/DTLS/SCTP": return formats.contains("webrtc-datachannel")
    case "DTLS/SCTP": return remoteSCTPPort != nil
    default: return false
    }
  }

  /// True for `DTLS/SCTP 5000` with `a=sctpmap`, the form of before RFC 8841.
  public var isOlderDataChannelForm: Bool { kind == .application && proto == "DTLS/SCTP" }

  /// The port of the SCTP association; nil when the section names none.
  public var remoteSCTPPort: UInt16? {
    if let sctpPort { return sctpPort }
    for attribute in otherAttributes where attribute.name == "sctpmap" {
      let fields = (attribute.value ?? "").split(separator: " ")
      if fields.count >= 2, fields[1] == "webrtc-datachannel" { return UInt16(fields[0]) }
    }
    return proto == "UDP/DTLS/SCTP" ? Self.usualSCTPPort : nil
  }

  /// The longest message that the section's owner takes, in bytes; nil when it takes any.
  public var acceptedMessageSize: UInt64? {
    switch maxMessageSize {
    case 0?: nil
    case let size?: size
    case nil: Self.assumedMaximumMessageSize
    }
  }
}
