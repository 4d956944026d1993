import RTCPrimitives
import RTCSCTP
import RTCTestKit
import RTCWire
import Testing
import UsrsctpKit

/// Ours with usrsctp, over a network on virtual time.
@Suite struct UsrsctpTests {
  /// Both ends, and what has arrived at them.
  private final class MixedPair {
    private(set) var now = Timestamp.zero
    var network: NetworkEmulator
    let theirs: UsrsctpPeer
    private var ours: DataChannelTransport
    private var outbox = DataChannelOutbox()
    private(set) var events: [DataChannelEvent] = []
    private(set) var theirMessages: [[UInt8]] = []
    private(set) var theirResets: [UInt16] = []
    private(set) var isUp = false
    private var partial: [UInt16: [UInt8]] = [:]
    private var nextTick = Timestamp.zero

    init(seed: UInt64, loss: Double) throws {
      var conditions = NetworkConditions.delayed(.milliseconds(20))
      conditions.loss = loss
      conditions.jitter = .milliseconds(5)
      conditions.reorders = loss > 0
      network = NetworkEmulator(seed: seed, conditions: conditions)
      theirs = try #require(UsrsctpPeer(now: .zero))
      ours = DataChannelTransport()
      ours.start(isClient: true, remoteMaximumMessageSize: 262_144, seed: 9, now: now, into: &outbox)
      take()
      _ = theirs.connect(now: now)
      take()
    }

    private func take() {
      for i in 0..<outbox.packets.count {
        network.send(outbox.packets.packet(i), route: Self.route, direction: .aToB, now: now)
      }
      events += outbox.events
      outbox.removeAll()
      for packet in theirs.packets { network.send(packet.span, route: Self.route, direction: .bToA, now: now) }
      theirs.packets.removeAll()
    }

    private func takeTheirs() {
      while let event = theirs.nextEvent(now: now) {
        switch event {
        case .connected: isUp = true
        case .data(let stream, let payload, let bytes, let isLast):
          partial[stream, default: []] += bytes
          guard isLast, let whole = partial.removeValue(forKey: stream) else { continue }
          if payload != PayloadProtocol.control.rawValue { theirMessages.append(whole) }
        case .reset(let streams, let isIncoming, _, _): if isIncoming { theirResets += streams }
        default: break
        }
      }
      take()
    }

    func run(for limit: TimeDelta, until isDone: () -> Bool = { false }) {
      let end = now + limit
      while !isDone() {
        let next = [network.nextDeadline, ours.nextDeadline, nextTick].compactMap { $0 }.min() ?? end
        guard next <= end else {
          now = end
          return
        }
        now = max(now, next)
        while let delivery = network.nextDelivery(by: now) {
          if delivery.direction == .aToB {
            theirs.handle(delivery.bytes.span, now: now)
          } else {
            ours.handle(delivery.bytes.span, now: now, into: &outbox)
          }
          takeTheirs()
        }
        if ours.nextDeadline <= now { ours.advance(now: now, into: &outbox) }
        if nextTick <= now {
          theirs.advance(now: now)
          nextTick = now + .milliseconds(10)
        }
        takeTheirs()
      }
    }

    func open(_ parameters: DataChannelParameters) throws -> DataChannelHandle {
      defer { take() }
      return try ours.open(parameters, now: now, into: &outbox)
    }
    func send(_ bytes: [UInt8], on handle: DataChannelHandle) throws {
      try ours.send(.binary(bytes), on: handle, now: now, into: &outbox)
      take()
    }
    func close(_ handle: DataChannelHandle) throws {
      try ours.close(handle, now: now, into: &outbox)
      take()
    }
    func messages(on handle: DataChannelHandle) -> [DataChannelMessage] {
      events.compactMap { if case .message(handle, let message) = $0 { message } else { nil } }
    }

    private static let route: Route = {
      let address = SocketAddress(ip: IPAddress("127.0.0.1")!, port: 9)
      return Route(local: address, remote: address)
    }()
  }

  private static func messages(_ count: Int) -> [[UInt8]] {
    (0..<count).map { [UInt8]([UInt8($0)]) + [UInt8](repeating: UInt8($0), count: $0 * $0 * 23 % 40_000) }
  }

  @Test(arguments: [0.0, 0.1, 0.3], [true, false]) func `messages go both ways`(loss: Double, isOrdered: Bool) throws {
    let pair = try MixedPair(seed: 3, loss: loss)
    let channel = try pair.open(DataChannelParameters(isOrdered: isOrdered))
    pair.run(for: .seconds(60), until: { pair.isUp && pair.events.contains(.opened(channel)) })
    pair.run(for: .seconds(2))
    let messages = Self.messages(50)
    var waiting = messages[...]
    for message in messages { try pair.send(message, on: channel) }
    pair.run(
      for: .seconds(900),
      until: {
        while let next = waiting.first,
          pair.theirs.send(next, stream: 0, protocol: 53, isOrdered: isOrdered, now: pair.now)
        { waiting = waiting.dropFirst() }
        return pair.theirMessages.count == 50 && pair.messages(on: channel).count == 50
      })
    pair.run(for: .seconds(3))
    let (there, back) = (pair.theirMessages, pair.messages(on: channel))
    if isOrdered {
      #expect(there == messages && back == messages.map { .binary($0) })
    } else {
      #expect(Set(there) == Set(messages) && Set(back) == Set(messages.map { .binary($0) }))
      #expect(there.count == 50 && back.count == 50)
    }
  }

  @Test(arguments: [UsrsctpPeer.Policy.retransmissions(0), .lifetime(200)])
  func `what either side gives up holds up nothing`(policy: UsrsctpPeer.Policy) throws {
    let pair = try MixedPair(seed: 8, loss: 0)
    let reliability: DataChannelReliability =
      if case .lifetime(let time) = policy { .maximumLifetime(time) } else { .maximumRetransmissions(0) }
    let channel = try pair.open(DataChannelParameters(reliability: reliability))
    pair.run(for: .seconds(3))
    for direction in NetworkEmulator.Direction.allCases { pair.network[direction].loss = 0.25 }
    for i in 0..<60 {
      try pair.send([UInt8(i)], on: channel)
      _ = pair.theirs.send([UInt8(i)], stream: 0, protocol: 53, policy: policy, now: pair.now)
      pair.run(for: .milliseconds(50))
    }
    pair.run(for: .seconds(10))
    for direction in NetworkEmulator.Direction.allCases { pair.network[direction].loss = 0 }
    try pair.send([99], on: channel)
    _ = pair.theirs.send([99], stream: 0, protocol: 53, now: pair.now)
    pair.run(for: .seconds(10))
    let back = pair.messages(on: channel)
    #expect(pair.theirMessages.last == [99] && back.last == .binary([99]))
    #expect((20..<61).contains(pair.theirMessages.count) && (20..<61).contains(back.count))
    #expect(pair.theirMessages == pair.theirMessages.sorted { $0[0] < $1[0] })
  }

  @Test func `streams are reset and used again`() throws {
    let pair = try MixedPair(seed: 2, loss: 0.1)
    pair.run(for: .seconds(5))
    for round in 1...5 {
      let channel = try pair.open(DataChannelParameters())
      pair.run(for: .seconds(3))
      try pair.send([UInt8(round)], on: channel)
      pair.run(for: .seconds(5))
      try pair.close(channel)
      pair.run(for: .seconds(60), until: { pair.theirResets.count == round })
      #expect(pair.theirs.resetOutgoing([0], now: pair.now))
      pair.run(for: .seconds(60), until: { pair.events.contains(.closed(channel)) })
      #expect(pair.events.contains(.closed(channel)) && pair.theirMessages.last == [UInt8(round)])
    }
    #expect(pair.theirResets == [0, 0, 0, 0, 0])
  }

  @Test func `an abort of theirs ends ours`() throws {
    let pair = try MixedPair(seed: 2, loss: 0)
    pair.run(for: .seconds(2))
    pair.theirs.abort(now: pair.now)
    pair.run(for: .seconds(2))
    #expect(pair.events.last == .ended(.closedByPeer))
  }
}
