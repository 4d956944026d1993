import RTCPrimitives

/// Values by network, for a limited number of networks; the oldest is removed.
struct NetworkTable<Value: Sendable>: Sendable {
  static var capacity: Int { 4_096 }

  private var values: [ClientNetwork: Value] = [:]
  /// In the order they came, from `oldest` on.
  private var order: [ClientNetwork] = []
  private var oldest = 0

  /// Nil for a network that is not remembered.
  subscript(network: ClientNetwork) -> Value? { values[network] }

  /// Sets the value of a network.
  mutating func update(_ network: ClientNetwork, _ value: Value) {
    guard values.updateValue(value, forKey: network) == nil else { return }
    order.append(network)
    guard values.count > Self.capacity else { return }
    values[order[oldest]] = nil
    oldest += 1
    guard oldest > Self.capacity else { return }
    order.removeFirst(oldest)
    oldest = 0
  }
}
