import RTCPrimitives

/// Requests of the Port Control Protocol (RFC 6887), and of NAT-PMP (RFC 6886), which older routers speak. Only IPv4.
enum PortMappingRequest {
  /// The router's port of both protocols.
  static let port: UInt16 = 5351

  /// A MAP request of PCP (RFC 6887 §7.1, §11.1): 60 bytes.
  /// - Parameters:
  ///   - lifetime: in seconds; 0 ends the mapping.
  ///   - client: the address of this machine to the router, which must be the datagram's source.
  ///   - nonce: the same for all requests of a mapping.
  static func pcp(
    _ wanted: WantedMapping, lifetime: UInt32, client: UInt32, nonce: [UInt8], suggested: SocketAddress?
  ) -> [UInt8] {
    var bytes: [UInt8] = [2, 1, 0, 0]
    append(lifetime, to: &bytes)
    bytes += mapped(client)
    bytes += nonce
    bytes += [wanted.transport.rawValue, 0, 0, 0]
    append(wanted.port, to: &bytes)
    append(suggested?.port ?? wanted.port, to: &bytes)
    if case .v4(let address)? = suggested?.ip { bytes += mapped(address) } else { bytes += mapped(0) }
    return bytes
  }

  /// A request of NAT-PMP for the router's outer address (RFC 6886 §3.2).
  static let natPMPAddress: [UInt8] = [0, 0]

  /// A request of NAT-PMP for a mapping (RFC 6886 §3.3); a lifetime of 0 ends it.
  static func natPMP(_ wanted: WantedMapping, lifetime: UInt32, suggested: UInt16) -> [UInt8] {
    var bytes: [UInt8] = [0, wanted.transport == .udp ? 1 : 2, 0, 0]
    append(wanted.port, to: &bytes)
    append(lifetime == 0 ? 0 : suggested, to: &bytes)
    append(lifetime, to: &bytes)
    return bytes
  }

  private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2).
  private static func mapped(_ address: UInt32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    append(address, to: &bytes)
    return bytes
  }
}

/// A router's answer in either protocol.
enum PortMappingAnswer: Hashable {
  /// A mapping of PCP, or why there is none.
  case pcp(PCPAnswer)
  /// The router's outer address.
  case natPMPAddress(result: UInt16, epoch: UInt32, address: UInt32)
  /// A mapping of NAT-PMP, or why there is none.
  case natPMP(result: UInt16, epoch: UInt32, wanted: WantedMapping, external: UInt16, lifetime: UInt32)
  /// The router does not speak PCP (RFC 6886 §3.5, RFC 6887 §9).
  case unsupportedVersion

  /// A MAP answer of PCP (RFC 6887 §7.2, §11.1).
  struct PCPAnswer: Hashable {
    var result: UInt8
    /// In seconds: of the mapping, or until a refusal may change.
    var lifetime: UInt32
    /// Seconds since the router began to count.
    var epoch: UInt32
    var nonce: [UInt8]
    var wanted: WantedMapping
    /// Nil if the router's outer address is no IPv4 address.
    var external: SocketAddress?
  }

  /// Reads an answer; nil for everything else.
  init?(_ bytes: Span<UInt8>) {
    var reader = ByteReader(bytes)
    guard let version = reader.readUInt8(), let opcode = reader.readUInt8(), opcode & 0x80 != 0 else { return nil }
    switch version {
    case 2:
      guard let answer = Self.pcp(&reader, opcode) else { return nil }
      self = answer
    case 0:
      guard let answer = Self.natPMP(&reader, opcode) else { return nil }
      self = answer
    default: return nil
    }
  }

  private static func pcp(_ reader: inout ByteReader, _ opcode: UInt8) -> PortMappingAnswer? {
    guard reader.skip(1), let result = reader.readUInt8(), let lifetime = reader.readUInt32(),
      let epoch = reader.readUInt32(), reader.skip(12)
    else { return nil }
    // The answer of a router that speaks another version may be cut.
    if result == 1 { return .unsupportedVersion }
    guard opcode == 0x81, let nonce = reader.read(12), let transport = reader.readUInt8(), reader.skip(3),
      let port = reader.readUInt16(), let external = reader.readUInt16(), let high = reader.readUInt64(),
      let low = reader.readUInt64(), let transport = MappedTransport(rawValue: transport)
    else { return nil }
    let isV4 = high == 0 && low >> 32 == 0xFFFF
    return .pcp(
      PCPAnswer(
        result: result, lifetime: lifetime, epoch: epoch, nonce: Array(copying: nonce),
        wanted: WantedMapping(transport, port),
        external: isV4 ? SocketAddress(ip: .v4(UInt32(truncatingIfNeeded: low)), port: external) : nil))
  }

  private static func natPMP(_ reader: inout ByteReader, _ opcode: UInt8) -> PortMappingAnswer? {
    guard let result = reader.readUInt16() else { return nil }
    if result == 1 { return .unsupportedVersion }
    guard let epoch = reader.readUInt32() else { return nil }
    // A refusal may be cut behind its result.
    if opcode == 128 {
      return .natPMPAddress(result: result, epoch: epoch, address: reader.readUInt32() ?? 0)
    }
    guard opcode == 129 || opcode == 130, let port = reader.readUInt16() else { return nil }
    return .natPMP(
      result: result, epoch: epoch, wanted: WantedMapping(opcode == 129 ? .udp : .tcp, port),
      external: reader.readUInt16() ?? 0, lifetime: reader.readUInt32() ?? 0)
  }
}
