import ArgumentParser

/// `--udp-port`.
package enum UDPPortChoice: Hashable, Sendable {
  case one(UInt16)
  case range(ClosedRange<UInt16>)

  package init(parsing text: String) throws {
    let ports = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
    switch (ports.count, ports.first ?? nil, ports.last ?? nil) {
    case (1, let port?, _) where port > 0: self = .one(port)
    case (2, let first?, let last?) where first > 0 && first <= last:
      self = first == last ? .one(first) : .range(first...last)
    default:
      throw ValidationError(
        "--udp-port takes a port from 1 to 65535, or a range such as 5000-5100, not '\(text)'.")
    }
  }
}
