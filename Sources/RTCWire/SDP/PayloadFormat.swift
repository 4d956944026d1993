public import RTCPrimitives

/// One RTP payload type of an m-section: `a=rtpmap`, `a=fmtp` and `a=rtcp-fb` together (RFC 8866 §6.6, RFC 4585 §4.2).
public struct PayloadFormat: Hashable, Sendable {
  /// The number that packets of this format carry, 0…127.
  public var payloadType: PayloadType
  /// The encoding's name as written; compared without regard to case.
  public var name: String
  /// Hertz.
  public var clockRate: UInt32
  /// 1 unless said.
  public var channels: UInt8
  /// The value of `a=fmtp`; empty when there is none.
  public var parameters: FormatParameters
  /// Each as written after the payload type: `nack`, `nack pli`, `ccm fir`, `transport-cc`, `goog-remb`.
  public var feedback: [String]

  /// Takes all values as they are; nothing is checked.
  public init(
    payloadType: PayloadType, name: String, clockRate: UInt32, channels: UInt8 = 1,
    parameters: FormatParameters = FormatParameters(), feedback: [String] = []
  ) {
    self.payloadType = payloadType
    self.name = name
    self.clockRate = clockRate
    self.channels = channels
    self.parameters = parameters
    self.feedback = feedback
  }

  /// True when the encoding's name is `other`, without regard to case.
  public func isNamed(_ other: String) -> Bool { name.utf8Span.span.isEqualIgnoringCase(other.utf8Span.span) }

  /// The payload type whose packets this one repeats, for `rtx` (RFC 4588 §8.1).
  public var associatedPayloadType: PayloadType? {
    guard isNamed("rtx"), let apt = parameters.number("apt"), apt <= 127 else { return nil }
    return PayloadType(UInt8(apt))
  }

  /// From `a=rtpmap`'s value without the payload type: `VP8/90000`, `opus/48000/2`.
  init?(payloadType: PayloadType, mapping: Substring) {
    let parts = mapping.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
    guard (2...3).contains(parts.count), (1...64).contains(parts[0].utf8.count),
      let clockRate = parts[1].decimal(UInt32.self), (1...1_000_000_000).contains(clockRate)
    else { return nil }
    var channels: UInt8 = 1
    if parts.count == 3 {
      guard let said = parts[2].decimal(UInt8.self), said > 0 else { return nil }
      channels = said
    }
    self.init(payloadType: payloadType, name: String(parts[0]), clockRate: clockRate, channels: channels)
  }

  /// The payload types of RFC 3551 §6 that need no `a=rtpmap`, as far as browsers use them.
  static func assigned(_ payloadType: PayloadType) -> PayloadFormat? {
    switch payloadType.value {
    case 0: PayloadFormat(payloadType: payloadType, name: "PCMU", clockRate: 8_000)
    case 8: PayloadFormat(payloadType: payloadType, name: "PCMA", clockRate: 8_000)
    case 9: PayloadFormat(payloadType: payloadType, name: "G722", clockRate: 8_000)
    case 13: PayloadFormat(payloadType: payloadType, name: "CN", clockRate: 8_000)
    default: nil
    }
  }

  func write(into writer: inout SDPWriter) {
    let number = payloadType.value
    writer.attribute("rtpmap", "\(number) \(name)/\(clockRate)" + (channels > 1 ? "/\(channels)" : ""))
    for message in feedback { writer.attribute("rtcp-fb", "\(number) \(message)") }
    if !parameters.isEmpty { writer.attribute("fmtp", "\(number) \(parameters.text)") }
  }
}

extension Substring {
  /// A payload type, 0…127.
  var payloadType: PayloadType? {
    guard let number = decimal(UInt8.self), number <= 127 else { return nil }
    return PayloadType(number)
  }
}
