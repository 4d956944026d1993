import RTCPrimitives
import Testing

@Suite struct DatagramBatchTests {
  let route = Route(
    local: SocketAddress(ip: .loopbackV4, port: 1), remote: SocketAddress(ip: .loopbackV4, port: 2))

  @Test func `keeps datagrams back to back and in order`() {
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

  @Test func `what is taken out leaves no gap`() {
    var batch = DatagramBatch(capacity: 8)
    for number in UInt8(1)...6 { batch.append([UInt8](repeating: number, count: Int(number)).span, to: route) }
    batch.remove(from: 1) { bytes, _ in bytes[0] == 2 || bytes[0] == 5 }
    #expect(batch.count == 4 && batch.byteCount == 14)
    #expect((0..<14).map { batch.bytes[$0] } == [1, 3, 3, 3, 4, 4, 4, 4, 6, 6, 6, 6, 6, 6])
    #expect((0..<4).map { batch.datagram($0).count } == [1, 3, 4, 6])
    batch.remove(from: 0) { _, _ in true }
    #expect(batch.isEmpty && batch.byteCount == 0)
    batch.append([7].span, to: route)
    #expect(batch.datagram(0)[0] == 7)
  }
}
