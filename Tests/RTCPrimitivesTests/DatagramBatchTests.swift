import RTCPrimitives
import Testing

@Suite struct DatagramBatchTests {
  let route = Route(
    local: SocketAddress(ip: .loopbackV4, port: 1), remote: SocketAddress(ip: .loopbackV4, port: 2))

  @Test func keepsDatagramsBackToBackAndInOrder() {
    var batch = DatagramBatch(capacity: 8)
    batch.append([1, 2, 3].span, to: route)
    batch.append(to: route, capacity: 100) { out in
      var writer = ByteWriter(out._mutatingExtracting(0..<100))
      writer.write(UInt16(0x0405))
      writer.write(UInt32(0x0607_0809))
      return writer.offset
    }
    batch.append(to: route) { _ in 0 }
    #expect(batch.count == 2 && batch.byteCount == 9)
    #expect((0..<9).map { batch.bytes[$0] } == [1, 2, 3, 4, 5, 6, 7, 8, 9])
    #expect(batch.datagram(1)[0] == 4)
    batch.removeAll()
    #expect(batch.isEmpty && batch.byteCount == 0)
  }
}
