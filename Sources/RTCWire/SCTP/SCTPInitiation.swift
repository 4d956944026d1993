public import RTCPrimitives

/// An endpoint's extensions of RFC 9260, as listed in INIT and INIT ACK.
public struct SCTPCapabilities: Hashable, Sendable {
  /// FORWARD TSN (RFC 3758).
  public var hasPartialReliability = false
  /// I-DATA and I-FORWARD-TSN (RFC 8260).
  public var hasInterleaving = false
  /// RE-CONFIG (RFC 6525).
  public var hasReconfiguration = false
  /// A checksum of zero where DTLS already guards the packet (RFC 9653).
  public var acceptsZeroChecksum = false

  /// No extensions.
  public init() {}

  /// The number that stands for DTLS in Zero Checksum Acceptable (RFC 9653 §8).
  static let dtlsErrorDetection: UInt32 = 1
}

/// INIT or INIT ACK: the two begin an association, and differ in type and in the state cookie alone (RFC 9260 §3.3.2, §3.3.3).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |   Type = 1, 2 |  Chunk Flags  |      Chunk Length             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                         Initiate Tag                          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |           Advertised Receiver Window Credit (a_rwnd)          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Number of Outbound Streams   |   Number of Inbound Streams   |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                          Initial TSN                          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                          Parameters                           …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct SCTPInitiation: Hashable, Sendable {
  /// The tag that every packet to the sender must have; not 0.
  public var initiateTag: UInt32
  /// Bytes that the sender can take.
  public var receiverWindow: UInt32
  /// Most streams that the sender sends on; not 0.
  public var outboundStreams: UInt16
  /// Most streams that the sender takes; not 0.
  public var inboundStreams: UInt16
  /// The number of the sender's first DATA.
  public var initialTSN: TSN
  /// The sender's extensions.
  public var capabilities = SCTPCapabilities()
  /// The state cookie; empty in INIT.
  public var cookie: [UInt8] = []
  /// In a parsed INIT: unknown parameters that are to be reported, unchanged. In an INIT ACK to be written: the
  /// reported parameters.
  public var unrecognized: [UInt8] = []

  /// Unknown parameters beyond so many bytes are not reported: the answer must fit a packet.
  static let maximumUnrecognized = 256
  private static let fixedSize = 16

  /// Takes all values as they are.
  public init(
    initiateTag: UInt32, receiverWindow: UInt32, outboundStreams: UInt16, inboundStreams: UInt16, initialTSN: TSN
  ) {
    self.initiateTag = initiateTag
    self.receiverWindow = receiverWindow
    self.outboundStreams = outboundStreams
    self.inboundStreams = inboundStreams
    self.initialTSN = initialTSN
  }

  /// Nil when the chunk is too short, or when tag or numbers of streams are 0, which ends an association before it begins.
  public init?(parsing chunk: SCTPChunk) {
    var reader = ByteReader(chunk.value)
    guard let tag = reader.readUInt32(), let window = reader.readUInt32(), let outbound = reader.readUInt16(),
      let inbound = reader.readUInt16(), let tsn = reader.readUInt32(), tag != 0, outbound != 0, inbound != 0
    else { return nil }
    self.init(
      initiateTag: tag, receiverWindow: window, outboundStreams: outbound, inboundStreams: inbound,
      initialTSN: TSN(tsn))
    readParameters(reader.readRest())
  }

  private mutating func readParameters(_ bytes: Span<UInt8>) {
    var parameters = SCTPParameters(bytes)
    while let parameter = parameters.next() {
      switch parameter.type {
      case .stateCookie: cookie = [UInt8](copying: parameter.value)
      case .forwardTSNSupported: capabilities.hasPartialReliability = true
      case .zeroChecksumAcceptable:
        var reader = ByteReader(parameter.value)
        capabilities.acceptsZeroChecksum = reader.readUInt32() == SCTPCapabilities.dtlsErrorDetection
      case .supportedExtensions: readExtensions(parameter.value)
      case .unrecognized: break
      default:
        let padding = -parameter.bytes.count & 3
        if parameter.type.isReportedWhenUnknown,
          unrecognized.count + 8 + parameter.bytes.count <= Self.maximumUnrecognized
        {
          unrecognized.append(parameter.bytes)
          for _ in 0..<padding { unrecognized.append(0) }
        }
        // Addresses (5, 6, 11, 12) and the like have 00 for their highest bits, and are known: they mean nothing here.
        if !parameter.type.skipsWhenUnknown, parameter.type.rawValue > 12 { return }
      }
    }
  }

  private mutating func readExtensions(_ types: Span<UInt8>) {
    var hasInterleavedData = false
    var hasInterleavedForward = false
    for i in types.indices {
      switch SCTPChunkType(rawValue: types[i]) {
      case .reconfiguration: capabilities.hasReconfiguration = true
      case .forwardTSN: capabilities.hasPartialReliability = true
      case .interleavedData: hasInterleavedData = true
      case .interleavedForwardTSN: hasInterleavedForward = true
      default: break
      }
    }
    // RFC 8260 §2.2.1 asks for I-FORWARD-TSN only together with partial reliability, which all data channels may use.
    capabilities.hasInterleaving = hasInterleavedData && (hasInterleavedForward || !capabilities.hasPartialReliability)
  }

  private var extensions: [UInt8] {
    var types: [SCTPChunkType] = []
    if capabilities.hasReconfiguration { types.append(.reconfiguration) }
    if capabilities.hasPartialReliability { types.append(.forwardTSN) }
    if capabilities.hasInterleaving { types += [.interleavedData, .interleavedForwardTSN] }
    return types.map(\.rawValue)
  }

  /// The bytes `write` needs, in whole words.
  public var size: Int {
    var size = SCTPChunk.headerSize + Self.fixedSize
    if capabilities.hasPartialReliability { size += 4 }
    if capabilities.acceptsZeroChecksum { size += 8 }
    if !extensions.isEmpty { size += SCTPChunk.paddedSize(valueSize: extensions.count) }
    if !cookie.isEmpty { size += SCTPChunk.paddedSize(valueSize: cookie.count) }
    if !unrecognized.isEmpty { size += SCTPChunk.paddedSize(valueSize: unrecognized.count) }
    return size
  }

  /// Writes the chunk, as INIT ACK when it has a cookie, else as INIT.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    SCTPChunk.writeHeader(
      cookie.isEmpty ? .initiation : .initiationAck, valueSize: size - SCTPChunk.headerSize, into: &writer)
    writer.write(initiateTag)
    writer.write(receiverWindow)
    writer.write(outboundStreams)
    writer.write(inboundStreams)
    writer.write(initialTSN.value)
    if !cookie.isEmpty { SCTPParameter.write(.stateCookie, value: cookie.span, into: &writer) }
    if capabilities.hasPartialReliability {
      SCTPParameter.write(.forwardTSNSupported, value: [UInt8]().span, into: &writer)
    }
    if capabilities.acceptsZeroChecksum {
      writer.write(SCTPParameterType.zeroChecksumAcceptable.rawValue)
      writer.write(UInt16(8))
      writer.write(SCTPCapabilities.dtlsErrorDetection)
    }
    let extensions = extensions
    if !extensions.isEmpty { SCTPParameter.write(.supportedExtensions, value: extensions.span, into: &writer) }
    if !unrecognized.isEmpty { SCTPParameter.write(.unrecognized, value: unrecognized.span, into: &writer) }
  }
}
