import RTCNet
import RTCPrimitives
import Testing

@Suite struct SendRunTests {
  private let route = Route(
    local: SocketAddress(ip: .loopbackV4, port: 1), remote: SocketAddress(ip: .loopbackV4, port: 2))
  private let other = Route(
    local: SocketAddress(ip: .loopbackV4, port: 1), remote: SocketAddress(ip: .loopbackV4, port: 3))

  private func counts(_ sizes: [(Route, Int)], limit: Int = SendRun.maximumCount) -> [Int] {
    var batch = DatagramBatch()
    for (route, size) in sizes { batch.append([UInt8](repeating: 0, count: size).span, to: route) }
    var runs: [Int] = []
    var next = 0
    while next < batch.count {
      let run = SendRun(in: batch.entries, from: next, limit: limit)
      let members = batch.entries[next..<next + run.count]
      #expect(run.byteCount == members.reduce(0) { $0 + $1.count })
      for i in 0..<run.count {
        #expect(run.datagram(i).offset == batch.entries[next + i].offset)
        #expect(run.datagram(i).byteCount == batch.entries[next + i].count)
      }
      runs.append(run.count)
      next += run.count
    }
    return runs
  }

  @Test func `equal sizes form one run`() {
    #expect(counts(Array(repeating: (route, 1200), count: 50)) == [50])
  }

  @Test func `a shorter datagram ends its run`() {
    #expect(counts([(route, 1200), (route, 1200), (route, 80), (route, 80), (route, 1200)]) == [3, 1, 1])
  }

  @Test func `a longer datagram begins a new run`() {
    #expect(counts([(route, 80), (route, 1200), (route, 1200)]) == [1, 2])
  }

  @Test func `another route begins a new run`() {
    #expect(counts([(route, 80), (route, 80), (other, 80), (route, 80)]) == [2, 1, 1])
  }

  @Test func `a run has at most 64 datagrams`() {
    #expect(counts(Array(repeating: (route, 100), count: 130)) == [64, 64, 2])
  }

  @Test func `a run has at most 65000 bytes`() {
    #expect(counts(Array(repeating: (route, 1500), count: 50)) == [43, 7])
  }

  @Test func `a limit of one gives single datagrams`() {
    #expect(counts(Array(repeating: (route, 100), count: 3), limit: 1) == [1, 1, 1])
  }
}
