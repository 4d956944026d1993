import RTCDTLS
import RTCPrimitives
import Testing

/// Browsers with post-quantum key shares send a first message longer than a datagram.
@Suite struct SplitClientHelloTests {
  @Test(arguments: [false, true]) func `a client hello in two datagrams is answered`(_ secondPartFirst: Bool) throws {
    let pair = try makePair(weather: Weather(loss: 1))
    pair.run(limit: .zero)
    #expect(pair.datagramSizes.count == 1)
    let hello = try clientHello()
    var parts = split(hello, at: 60)
    if secondPartFirst { parts.reverse() }
    pair.deliver(parts[0], to: .server)
    #expect(pair.datagramSizes.count == 1)
    pair.deliver(parts[1], to: .server)
    #expect(pair.datagramSizes.count == 2 && pair.datagramSizes[1] > 300)
  }

  private func clientHello() throws -> [UInt8] {
    let route = Route(
      local: SocketAddress(ip: .loopbackV4, port: 1), remote: SocketAddress(ip: .loopbackV4, port: 2))
    var client = try DTLSTransport(role: .client, certificate: clientCertificate)
    var batch = DatagramBatch(capacity: 2048)
    client.start(now: .zero, route: route, into: &batch)
    var bytes: [UInt8] = []
    for index in 0..<batch.byteCount { bytes.append(batch.bytes[index]) }
    return bytes
  }

  /// Two records, each with a fragment of the handshake message (RFC 6347 §4.2.2): a record header of 13 bytes, a message
  /// header of 12 (type, length, sequence, fragment offset, fragment length), the fragment.
  private func split(_ datagram: [UInt8], at offset: Int) -> [[UInt8]] {
    let body = Array(datagram[25...])
    return [(0, Array(body[..<offset])), (offset, Array(body[offset...]))].map { start, fragment in
      var record = Array(datagram[..<11])
      record[10] = start == 0 ? 0 : 1  // record sequence number
      let length = fragment.count + 12
      return record + [UInt8(length >> 8), UInt8(length & 0xFF)] + datagram[13..<19]
        + [0, UInt8(start >> 8), UInt8(start & 0xFF), 0, UInt8(fragment.count >> 8), UInt8(fragment.count & 0xFF)]
        + fragment
    }
  }
}
