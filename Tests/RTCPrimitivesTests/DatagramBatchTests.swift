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

  @Test func `datagrams to a relay get their headers in place and stay one run`() {
    let relay = Route(local: route.local, remote: route.remote, kind: .relay(3))
    let server = Route(local: route.remote, remote: route.local)
    var batch = DatagramBatch(capacity: 16)
    for value in [UInt8(1), 2] { batch.append([value, value].span, to: relay) }
    #expect(batch.entries.map(\.offset) == [4, 10])
    for index in 0..<2 { batch.encapsulate(index, header: 0x4001_0002, to: server) }
    #expect(batch.entries.map(\.offset) == [0, 6] && batch.entries.allSatisfy { $0.count == 6 && $0.route == server })
    #expect([UInt8](copying: batch.datagram(1)) == [0x40, 1, 0, 2, 2, 2])
  }

  @Test func `the room for a header stays when datagrams are taken out`() {
    let relay = Route(local: route.local, remote: route.remote, kind: .relay(0))
    var batch = DatagramBatch(capacity: 64)
    for value in [UInt8(1), 2, 3] { batch.append([value].span, to: relay) }
    batch.remove(from: 0) { bytes, _ in bytes[0] == 1 }
    #expect(batch.entries.map(\.offset) == [4, 9])
    #expect([UInt8](copying: batch.datagram(1)) == [3])
  }
}
