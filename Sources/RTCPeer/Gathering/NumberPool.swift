/// Numbers for what comes and goes in a loop. A route may name what has gone: a number is given again only after all others.
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
