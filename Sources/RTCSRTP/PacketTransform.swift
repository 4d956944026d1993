import RTCPrimitives

/// The encryption of SRTP or SRTCP packets in one direction, given the source and the index. Owned by one thread.
enum PacketTransform: ~Copyable {
  enum Direction {
    case inbound
    case outbound
  }

  case gcm(GCMTransform)
  case counterMode(CounterModeTransform)

  init(_ direction: Direction, _ profile: SRTPProfile, _ keys: SRTPSessionKeys.Stream) throws(SRTPError) {
    switch profile {
    case .aeadAes128Gcm: self = .gcm(try GCMTransform(direction, keys))
    case .aes128CmSha1_80: self = .counterMode(try CounterModeTransform(keys))
    }
  }

  /// Protects the packet in the first `count` bytes, whose header has `header` bytes. There is room for the tag.
  /// - Parameter index: roll-over counter and sequence number, 48 bits.
  /// - Returns: the new length.
  @_lifetime(packet: copy packet)
  func sealRTP(
    _ packet: inout MutableSpan<UInt8>, header: Int, count: Int, source: UInt32, index: UInt64
  ) throws(SRTPError) -> Int {
    switch self {
    case .gcm(let transform):
      return try transform.sealRTP(&packet, header: header, count: count, source: source, index: index)
    case .counterMode(let transform):
      return try transform.sealRTP(&packet, header: header, count: count, source: source, index: index)
    }
  }

  /// Opens the packet that fills `packet` and has `header` bytes and a tag at least.
  @_lifetime(packet: copy packet)
  func openRTP(
    _ packet: inout MutableSpan<UInt8>, header: Int, source: UInt32, index: UInt64
  ) throws(SRTPError) -> Int {
    switch self {
    case .gcm(let transform):
      return try transform.openRTP(&packet, header: header, source: source, index: index)
    case .counterMode(let transform):
      return try transform.openRTP(&packet, header: header, source: source, index: index)
    }
  }

  /// Protects the packet in the first `count` bytes, eight at least. There is room for index and tag.
  /// - Parameter index: 31 bits.
  @_lifetime(packet: copy packet)
  func sealRTCP(
    _ packet: inout MutableSpan<UInt8>, count: Int, source: UInt32, index: UInt32
  ) throws(SRTPError) -> Int {
    switch self {
    case .gcm(let transform):
      return try transform.sealRTCP(&packet, count: count, source: source, index: index)
    case .counterMode(let transform):
      return try transform.sealRTCP(&packet, count: count, source: source, index: index)
    }
  }

  /// Opens the packet that fills `packet` and has header, index and tag at least.
  @_lifetime(packet: copy packet)
  func openRTCP(
    _ packet: inout MutableSpan<UInt8>, source: UInt32, index: UInt32
  ) throws(SRTPError) -> Int {
    switch self {
    case .gcm(let transform): return try transform.openRTCP(&packet, source: source, index: index)
    case .counterMode(let transform): return try transform.openRTCP(&packet, source: source, index: index)
    }
  }
}
