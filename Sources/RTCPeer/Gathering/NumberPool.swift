/// Numbers for the ports and streams of a loop. A route may name a closed one, so a number is reused only after all
/// others.
struct NumberPool {
  private var taken: Set<UInt16> = []
  private var next: UInt16 = 0

  var isEmpty: Bool { taken.isEmpty }

  /// Nil when all are taken.
  mutating func take() -> UInt16? {
    guard taken.count <= UInt16.max else { return nil }
    while !taken.insert(next).inserted { next &+= 1 }
    defer { next &+= 1 }
    return next
  }

  mutating func giveBack(_ number: UInt16) { taken.remove(number) }
}
