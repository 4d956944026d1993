import CAllocationCount

/// Time and allocations of the stretches of code given to it, on the thread that runs them.
public struct Meter {
  public private(set) var nanoseconds = 0.0
  public private(set) var allocations = 0

  public init() {}

  public mutating func measure(_ body: () -> Void) {
    let before = allocation_count()
    let start = ContinuousClock.now
    body()
    let time = ContinuousClock.now - start
    allocations += Int(allocation_count() - before)
    nanoseconds += Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9
  }

  public mutating func add(_ other: Meter) {
    nanoseconds += other.nanoseconds
    allocations += other.allocations
  }

  /// What is left when `other`, which did `scale` times less of the same, is taken away.
  public func without(_ other: Meter, scale: Double) -> Meter {
    var rest = self
    rest.nanoseconds -= other.nanoseconds * scale
    rest.allocations -= Int(Double(other.allocations) * scale)
    return rest
  }

  public func report(_ name: String, packets: Int) {
    let time = (nanoseconds / Double(packets) * 10).rounded() / 10
    let count = (Double(allocations) / Double(packets) * 1000).rounded() / 1000
    print("\(name): \(time) ns and \(count) allocations a packet")
  }
}
