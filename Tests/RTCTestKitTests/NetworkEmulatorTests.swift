import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct NetworkEmulatorTests {
  let route = Route(local: SocketAddress(ip: .v4(1), port: 1), remote: SocketAddress(ip: .v4(2), port: 2))

  /// Sends `count` datagrams `interval` apart and returns their numbers and arrival times.
  private func transfer(
    _ network: inout NetworkEmulator, count: Int, interval: TimeDelta = .milliseconds(1), size: Int = 100
  ) -> [(number: Int, time: Timestamp)] {
    for i in 0..<count {
      var bytes = [UInt8](repeating: 0, count: size)
      bytes[0] = UInt8(i >> 8)
      bytes[1] = UInt8(i & 0xFF)
      network.send(bytes.span, route: route, direction: .aToB, now: .zero + interval * Int64(i))
    }
    var arrivals: [(Int, Timestamp)] = []
    while let delivery = network.nextDelivery(by: .distantFuture) {
      #expect(delivery.route == Route(local: route.remote, remote: route.local) && delivery.direction == .aToB)
      arrivals.append((Int(delivery.bytes[0]) << 8 | Int(delivery.bytes[1]), delivery.time))
    }
    return arrivals
  }

  @Test func `delivers after the delay in order`() {
    var network = NetworkEmulator(seed: 1, conditions: .delayed(.milliseconds(30)))
    let arrivals = transfer(&network, count: 10)
    #expect(arrivals.map(\.number) == Array(0..<10))
    #expect(arrivals.enumerated().allSatisfy { $1.time == .zero + .milliseconds(30 + Int64($0)) })
    #expect(network.nextDeadline == nil)
  }

  @Test func `holds back what is not due`() {
    var network = NetworkEmulator(seed: 1, conditions: .delayed(.milliseconds(5)))
    network.send([1].span, route: route, direction: .bToA, now: .zero)
    #expect(network.nextDeadline == .zero + .milliseconds(5))
    #expect(network.nextDelivery(by: .zero + .milliseconds(4)) == nil)
    #expect(network.nextDelivery(by: .zero + .milliseconds(5))?.direction == .bToA)
  }

  @Test func `loses the share asked for`() {
    var network = NetworkEmulator(seed: 2)
    network[.aToB].loss = 0.3
    let arrived = transfer(&network, count: 10_000).count
    #expect((6_800...7_200).contains(arrived))
    #expect(network.counters(.aToB).lost == 10_000 - arrived)
  }

  @Test func `loses in bursts`() {
    var network = NetworkEmulator(seed: 3)
    network[.aToB].burstLoss = .init(begin: 0.01, end: 0.2)
    let numbers = transfer(&network, count: 20_000).map(\.number)
    let gaps = zip(numbers, numbers.dropFirst()).map { $1 - $0 - 1 }.filter { $0 > 0 }
    let mean = Double(gaps.reduce(0, +)) / Double(gaps.count)
    #expect((4.0...6.0).contains(mean))
  }

  @Test func `reorders only when allowed`() {
    var conditions = NetworkConditions.delayed(.milliseconds(10))
    conditions.jitter = .milliseconds(20)
    var network = NetworkEmulator(seed: 4, conditions: conditions)
    #expect(transfer(&network, count: 200).map(\.number) == Array(0..<200))
    conditions.reorders = true
    network.setConditions(conditions)
    let numbers = transfer(&network, count: 200).map(\.number)
    #expect(numbers != Array(0..<200) && numbers.sorted() == Array(0..<200))
  }

  @Test func `duplicates`() {
    var network = NetworkEmulator(seed: 5)
    network[.aToB].duplication = 0.5
    let count = transfer(&network, count: 1_000).count
    #expect((1_400...1_600).contains(count))
    #expect(network.counters(.aToB).duplicated == count - 1_000)
  }

  @Test func `spaces at the rate and drops what does not fit`() {
    var conditions = NetworkConditions()
    conditions.rate = .megabitsPerSecond(1)
    conditions.overhead = 0
    conditions.queueCapacity = 10_000
    var network = NetworkEmulator(seed: 6, conditions: conditions)
    let arrivals = transfer(&network, count: 20, interval: .zero, size: 1_000)
    #expect(arrivals.count == 10 && network.counters(.aToB).overflowed == 10)
    #expect(arrivals.enumerated().allSatisfy { $1.time == .zero + .milliseconds(8 * Int64($0 + 1)) })
  }

  @Test func `blocks addresses`() {
    var network = NetworkEmulator(seed: 7)
    network.blockedAddresses = [route.remote]
    #expect(transfer(&network, count: 3).isEmpty && network.counters(.aToB).blocked == 3)
  }

  @Test func `the same seed gives the same network`() {
    func run(_ seed: UInt64) -> [Int] {
      var network = NetworkEmulator(seed: seed)
      network[.aToB].loss = 0.5
      return transfer(&network, count: 200).map(\.number)
    }
    #expect(run(8) == run(8))
    #expect(run(8) != run(9))
  }
}
