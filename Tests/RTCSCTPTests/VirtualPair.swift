import RTCPrimitives
import RTCSCTP
import RTCTestKit

/// Two transports over a network emulator, on time that moves only here.
final class VirtualPair {
  enum Side: Int, CaseIterable {
    case client, server
    var other: Side { self == .client ? .server : .client }
  }

  private(set) var now = Timestamp.zero
  var network: NetworkEmulator
  private var client: DataChannelTransport
  private var server: DataChannelTransport
  private var outbox = DataChannelOutbox()
  private(set) var events: [Side: [DataChannelEvent]] = [.client: [], .server: []]
  private(set) var packetCount = 0
  /// The most packets that one call has let leave, and the bytes of the longest.
  private(set) var largestBurst = 0
  private(set) var longestPacket = 0
  /// Long runs have no use for their packets.
  var keepsPackets = true
  /// Every packet sent, one after the other, for comparisons.
  var trace: [UInt8] { Array(packets.joined()) }
  private(set) var packets: [[UInt8]] = []

  init(
    seed: UInt64 = 1, conditions: NetworkConditions = .delayed(.milliseconds(10)),
    options: DataChannelOptions = DataChannelOptions(), serverOptions: DataChannelOptions? = nil
  ) {
    network = NetworkEmulator(seed: seed, conditions: conditions)
    client = DataChannelTransport(options: options)
    server = DataChannelTransport(options: serverOptions ?? options)
  }

  func start(clientTakes: UInt64? = 262_144, serverTakes: UInt64? = 262_144) {
    client.start(isClient: true, remoteMaximumMessageSize: serverTakes, seed: 11, now: now, into: &outbox)
    take(.client)
    server.start(isClient: false, remoteMaximumMessageSize: clientTakes, seed: 12, now: now, into: &outbox)
    take(.server)
  }

  func open(_ parameters: DataChannelParameters, on side: Side) throws -> DataChannelHandle {
    defer { take(side) }
    return switch side {
    case .client: try client.open(parameters, now: now, into: &outbox)
    case .server: try server.open(parameters, now: now, into: &outbox)
    }
  }

  func send(_ message: DataChannelMessage, on handle: DataChannelHandle, from side: Side) throws {
    defer { take(side) }
    switch side {
    case .client: try client.send(message, on: handle, now: now, into: &outbox)
    case .server: try server.send(message, on: handle, now: now, into: &outbox)
    }
  }

  func close(_ handle: DataChannelHandle, on side: Side) throws {
    defer { take(side) }
    switch side {
    case .client: try client.close(handle, now: now, into: &outbox)
    case .server: try server.close(handle, now: now, into: &outbox)
    }
  }

  func closeAll(_ side: Side) {
    switch side {
    case .client: client.close(now: now, into: &outbox)
    case .server: server.close(now: now, into: &outbox)
    }
    take(side)
  }

  func shutDown(_ side: Side) {
    switch side {
    case .client: client.shutDown(now: now, into: &outbox)
    case .server: server.shutDown(now: now, into: &outbox)
    }
    take(side)
  }

  func setReceiving(_ isOn: Bool, on side: Side) {
    switch side {
    case .client: client.setReceiving(isOn, now: now, into: &outbox)
    case .server: server.setReceiving(isOn, now: now, into: &outbox)
    }
    take(side)
  }

  /// Tells `side` what a rate control has measured.
  func setPath(rate: BitRate, roundTrip: TimeDelta, loss: Double = 0, of side: Side) {
    switch side {
    case .client: client.setPath(rate: rate, roundTrip: roundTrip, loss: loss)
    case .server: server.setPath(rate: rate, roundTrip: roundTrip, loss: loss)
    }
  }

  /// Hands `side` a packet of anybody's making.
  func inject(_ packet: [UInt8], to side: Side) {
    switch side {
    case .client: client.handle(packet.span, now: now, into: &outbox)
    case .server: server.handle(packet.span, now: now, into: &outbox)
    }
    take(side)
  }

  func state(of handle: DataChannelHandle, on side: Side) -> DataChannelState {
    side == .client ? client.state(of: handle) : server.state(of: handle)
  }
  func stream(of handle: DataChannelHandle, on side: Side) -> UInt16? {
    side == .client ? client.stream(of: handle)?.value : server.stream(of: handle)?.value
  }
  func bufferedAmount(of handle: DataChannelHandle, on side: Side) -> Int {
    side == .client ? client.bufferedAmount(of: handle) : server.bufferedAmount(of: handle)
  }
  func setLowThreshold(_ bytes: Int, of handle: DataChannelHandle, on side: Side) {
    side == .client
      ? client.setBufferedAmountLowThreshold(bytes, of: handle)
      : server.setBufferedAmountLowThreshold(bytes, of: handle)
  }
  func violations(on side: Side) -> Int { side == .client ? client.violations : server.violations }

  /// The messages that arrived on one channel.
  func messages(on handle: DataChannelHandle, at side: Side) -> [DataChannelMessage] {
    events[side]!.compactMap { if case .message(handle, let message) = $0 { message } else { nil } }
  }

  /// The channels the other side opened, in order.
  func incoming(at side: Side) -> [(handle: DataChannelHandle, parameters: DataChannelParameters)] {
    events[side]!.compactMap {
      if case .incoming(let handle, let parameters) = $0 { (handle, parameters) } else { nil }
    }
  }

  /// Moves time on until `isDone`, at most by `limit`.
  func run(for limit: TimeDelta = .seconds(60), until isDone: () -> Bool = { false }) {
    let end = now + limit
    while !isDone() {
      let deadlines = [network.nextDeadline, client.nextDeadline, server.nextDeadline].compactMap { $0 }
      guard let next = deadlines.min(), next <= end else {
        now = end
        return
      }
      now = max(now, next)
      step()
    }
  }

  private func step() {
    while let delivery = network.nextDelivery(by: now) {
      inject(delivery.bytes, to: delivery.direction == .aToB ? .server : .client)
    }
    if client.nextDeadline <= now {
      client.advance(now: now, into: &outbox)
      take(.client)
    }
    if server.nextDeadline <= now {
      server.advance(now: now, into: &outbox)
      take(.server)
    }
  }

  private func take(_ side: Side) {
    let direction: NetworkEmulator.Direction = side == .client ? .aToB : .bToA
    largestBurst = max(largestBurst, outbox.packets.count)
    for i in 0..<outbox.packets.count {
      let packet = outbox.packets.packet(i)
      packetCount += 1
      longestPacket = max(longestPacket, packet.count)
      if keepsPackets { packets.append([UInt8](copying: packet)) }
      network.send(packet, route: Self.route, direction: direction, now: now)
    }
    events[side]!.append(contentsOf: outbox.events)
    outbox.removeAll()
  }

  private static let route: Route = {
    let address = SocketAddress(ip: IPAddress("127.0.0.1")!, port: 9)
    return Route(local: address, remote: address)
  }()
}
