import CLinux
import Glibc
package import RTCPrimitives
import Synchronization

/// The result of resolving a name.
package enum NameAnswer: Hashable, Sendable {
  /// At least one, in the order that the system prefers.
  case addresses([IPAddress])
  /// The system's resolver says why not, in its own words.
  case failed(String)
}

/// Resolves names with the system's resolver (DNS, `/etc/hosts`), each on a thread of its own, since the resolver
/// blocks. Any thread.
package final class NameResolver: Sendable {
  /// Maximum number of addresses of each IP version.
  package static let addressesPerVersion = 2
  /// Maximum number of names resolved at a time.
  private static let maximumThreads = 16

  private let running = Atomic(0)

  package init() {}

  /// Asks for the addresses of `name`.
  /// - Parameter onAnswer: called once, on a thread of the resolver's or, when nothing can be asked, on the caller's. A resolver
  ///   whose servers do not answer takes its own time, often 10 s or more: a caller with less patience does not wait for it.
  package func resolve(_ name: String, onAnswer: @escaping @Sendable (NameAnswer) -> Void) {
    guard running.add(1, ordering: .relaxed).newValue <= Self.maximumThreads else {
      running.subtract(1, ordering: .relaxed)
      return onAnswer(.failed("too many names are being looked up"))
    }
    do throws(SystemError) {
      _ = try NamedThread(name: "rtc-names") { [self] in
        let answer = Self.ask(name)
        running.subtract(1, ordering: .relaxed)
        onAnswer(answer)
      }
    } catch {
      running.subtract(1, ordering: .relaxed)
      onAnswer(.failed(error.description))
    }
  }

  private static func ask(_ name: String) -> NameAnswer {
    var found = [clinux_address](
      repeating: clinux_address(high: 0, low: 0, scope: 0, port: 0, is_v6: 0), count: 2 * addressesPerVersion)
    let count = unsafe clinux_resolve(name, &found, Int32(addressesPerVersion))
    if count < 0 { return .failed(unsafe String(cString: gai_strerror(count))) }
    return count == 0 ? .failed("it has no address") : .addresses(found.prefix(Int(count)).map(\.ip))
  }
}
