import CLinux
import Glibc
import RTCPrimitives
import Synchronization

/// Reports the loss and return of this machine's network, until it is released or stopped. Any thread.
package final class NetworkWatch: Sendable {
  private let stopped: WakeEvent
  private let thread = Mutex<NamedThread?>(nil)
  /// The watch's own pthread, 0 before it runs.
  private let owner: Owner

  private final class Owner: Sendable { let thread = Atomic<UInt>(0) }

  /// - Parameter report: called on the watch's thread, one call after the other; must not wait for the watch.
  /// - Throws: if the kernel refuses.
  package convenience init(_ report: @escaping @Sendable (NetworkChange) -> Void) throws(SystemError) {
    let changes = try SystemError.check(
      clinux_network_watch_open(), call: "socket", subject: "Watching the network interfaces")
    try self.init(changes: changes, addresses: { try? NetworkInterfaces.addresses() }, report)
  }

  /// - Parameters:
  ///   - changes: a descriptor, owned by the watch from now on, that is readable when something may have changed.
  ///   - addresses: returns the present addresses; nil if they are unknown.
  package init(
    changes: Int32, addresses: @escaping @Sendable () -> [InterfaceAddress]?,
    _ report: @escaping @Sendable (NetworkChange) -> Void
  ) throws(SystemError) {
    let stopped: WakeEvent
    do throws(SystemError) { stopped = try WakeEvent() } catch {
      _ = FileDescriptor(owning: changes)
      throw error
    }
    self.stopped = stopped
    let owner = Owner()
    self.owner = owner
    let new: NamedThread
    do throws(SystemError) {
      new = try NamedThread(name: "rtc-network") {
        owner.thread.store(UInt(pthread_self()), ordering: .relaxed)
        Self.run(changes, addresses, stopped, report)
      }
    } catch {
      _ = FileDescriptor(owning: changes)
      throw error
    }
    thread.withLock { $0 = new }
  }

  deinit { stopped.signal() }

  /// Ends the reports: none comes after it has returned, unless it is called from inside one.
  package func stop() {
    stopped.signal()
    guard owner.thread.load(ordering: .relaxed) != UInt(pthread_self()) else { return }
    thread.withLock { $0 }?.join()
  }

  private static func run(
    _ changes: Int32, _ addresses: () -> [InterfaceAddress]?, _ stopped: WakeEvent, _ report: (NetworkChange) -> Void
  ) {
    let file = FileDescriptor(owning: changes)
    guard let poller = try? Poller(), (try? poller.add(file.number, token: 0)) != nil,
      (try? poller.add(stopped.descriptor, token: 1)) != nil
    else { return }
    var network = NetworkCondition(addresses() ?? [])
    while true {
      let ready = poller.wait(until: .distantFuture)
      if ready.contains(1) { return }
      guard ready.contains(0) else { continue }
      clinux_network_watch_clear(file.number)
      guard let now = addresses(), let change = network.note(now) else { continue }
      report(change)
    }
  }
}

/// A change of this machine's network.
package enum NetworkChange: Hashable, Sendable {
  /// No address is left by which others are reached.
  case lost
  /// The network is available again.
  case returned
  /// The addresses have changed: connections from the old ones may be dead without notice.
  case changed
}

/// The addresses by which this machine reaches others, as last seen.
package struct NetworkCondition: Sendable {
  private var addresses: Set<IPAddress>

  /// The state that later changes are compared with; loopback and link-local addresses do not count.
  package init(_ interfaces: [InterfaceAddress]) { addresses = Self.outward(interfaces) }

  /// - Returns: the change; nil if there is none.
  package mutating func note(_ interfaces: [InterfaceAddress]) -> NetworkChange? {
    let before = addresses
    addresses = Self.outward(interfaces)
    if addresses == before { return nil }
    if addresses.isEmpty { return .lost }
    return before.isEmpty ? .returned : .changed
  }

  /// Loopback is not a network, and neither is a link without an address.
  private static func outward(_ interfaces: [InterfaceAddress]) -> Set<IPAddress> {
    Set(
      NetworkInterfaces.hostCandidates(from: interfaces).filter {
        !$0.isLoopback && !$0.isLinkLocal
      })
  }
}
