/// Two places in which a source may appear: the first one in which there is one.
package final class EitherSurroundings: CaptureSurroundings {
  private let first: any CaptureSurroundings
  private let second: any CaptureSurroundings

  package init(_ first: any CaptureSurroundings, _ second: any CaptureSurroundings) {
    (self.first, self.second) = (first, second)
  }

  package func find() -> CaptureFinding {
    let found = first.find()
    guard case .nothing(let reason) = found else { return found }
    let next = second.find()
    guard case .nothing(let other) = next else { return next }
    return .nothing("\(reason) \(other)")
  }

  package var descriptors: [Int32] { first.descriptors + second.descriptors }

  package func takeChanges() -> Bool {
    // Both are read.
    let changes = [first.takeChanges(), second.takeChanges()]
    return changes.contains(true)
  }
}
