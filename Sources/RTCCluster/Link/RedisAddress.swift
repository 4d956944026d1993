package import RTCSignaling

/// The address of a Redis server: `redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]`, or `rediss://…` for TLS.
package struct RedisAddress: Sendable, Hashable, CustomStringConvertible {
  package var isSecure: Bool
  package var host: HostName
  package var port: UInt16
  /// Nil: the default user.
  package var user: String?
  package var password: String?
  package var database = 0

  /// A text that is no such address; half a sentence gives the reason.
  package struct Problem: Error, Hashable, Sendable {
    package var text: String
  }

  package init(parsing text: String) throws(Problem) {
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
      throw Problem(text: "it does not begin with redis:// or rediss://")
    }
    switch text[..<colon].lowercased() {
    case "redis", "valkey": isSecure = false
    case "rediss", "valkeys": isSecure = true
    case let other: throw Problem(text: "it begins with \(other.prefix(20)):// and not with redis:// or rediss://")
    }
    guard text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
      throw Problem(text: "it contains a blank or a character that must be percent-encoded")
    }
    let rest = text[text.index(colon, offsetBy: 3)...]
    guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else {
      throw Problem(text: "it has a query or fragment; write ? and # in a password as %3F and %23")
    }
    let authority = rest.prefix { $0 != "/" }
    let path = rest.dropFirst(authority.count).dropFirst()
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    guard let (host, digits) = HostName.split(authority: place) else { throw Problem(text: "it names no host") }
    self.host = host
    let port = digits.map { $0.isEmpty ? 6_379 : UInt16($0) ?? 0 } ?? 6_379
    guard port > 0 else {
      throw Problem(text: "its port is not a number from 1 to 65535")
    }
    self.port = port
    if !path.isEmpty {
      guard let number = Int(path), (0...65_535).contains(number) else {
        throw Problem(text: "the part after the host is not the number of a database, such as /0")
      }
      database = number
    }
    guard place.startIndex > authority.startIndex else { return }
    try setCredentials(authority[..<authority.index(before: place.startIndex)])
  }

  private mutating func setCredentials(_ text: Substring) throws(Problem) {
    let user = text.prefix { $0 != ":" }
    guard let name = PercentEncoding.decode(user), let word = PercentEncoding.decode(text.dropFirst(user.count + 1))
    else { throw Problem(text: "a percent sign in its user or password does not begin an escape such as %40") }
    if !name.isEmpty { self.user = name }
    if text.count > user.count { password = word }
  }

  /// Host and port, without credentials.
  package var place: String { "\(host.inURL):\(port)" }

  /// Without the password.
  package var description: String {
    "\(isSecure ? "rediss" : "redis")://\(user.map { "\(PercentEncoding.encode($0))@" } ?? "")\(place)/\(database)"
  }
}
