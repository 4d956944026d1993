import Synchronization

/// The services that a broadcast is published to. Any thread.
final class Publications: Sendable {
  private let drivers = Mutex<[ObjectIdentifier: WHIPDriver]>([:])

  func add(_ driver: WHIPDriver) { drivers.withLock { $0[ObjectIdentifier(driver)] = driver } }

  func remove(_ driver: WHIPDriver) { drivers.withLock { $0[ObjectIdentifier(driver)] = nil } }

  /// Ends all publications in parallel, and waits for each service's answer or a time-out.
  func leaveAll() async {
    let all = drivers.withLock { drivers in
      defer { drivers = [:] }
      return Array(drivers.values)
    }
    await withTaskGroup(of: Void.self) { group in
      for driver in all { group.addTask { await driver.leave() } }
    }
  }
}
