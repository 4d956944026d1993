package import RTCSignaling

/// The address of a Redis server: `redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]`; or of the sentinels that know it:
/// `redis+sentinel://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]…]/NAME[/DATABASE]`. `rediss` stands for TLS.
package struct RedisAddress: Sendable, Hashable, CustomStringConvertible {
  /// A host and a port.
  package struct Place: Sendable, Hashable, CustomStringConvertible {
    package var host: HostName
    package var port: UInt16
    package var description: String { "\(host.inURL):\(port)" }

    package init(_ host: HostName, port: UInt16) { (self.host, self.port) = (host, port) }

    /// A host as Redis writes it: IPv6 addresses with brackets or without. Nil if it is none.
    package init?(host: some StringProtocol, port: UInt16) {
      let isAddress = host.contains(":") && !host.hasPrefix("[")
      guard let (name, rest) = HostName.split(authority: isAddress ? "[\(host)]" : String(host)), rest == nil else {
        return nil
      }
      self.init(name, port: port)
    }

    /// The place of a node as another node of a Redis Cluster writes it: without a host if it is the host of the node
    /// that was asked. Nil if it is none.
    package init?(node text: String, asking asked: Place) {
      guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
        return nil
      }
      let host = text[..<colon]
      if host.isEmpty {
        self.init(asked.host, port: port)
      } else {
        self.init(host: host, port: port)
      }
    }
  }

  /// The sentinels that know the address of a primary.
  package struct Sentinels: Sendable, Hashable {
    /// At least one.
    package var places: [Place]
    /// The name of the primary in their configuration.
    package var name: String
  }

  package var isSecure: Bool
  /// The place of the server; of the first sentinel if the server is not known yet.
  package var place: Place
  /// Nil: the server has a fixed address.
  package var sentinels: Sentinels?
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
    let hasSentinels: Bool
    switch text[..<colon].lowercased() {
    case "redis", "valkey": (isSecure, hasSentinels) = (false, false)
    case "rediss", "valkeys": (isSecure, hasSentinels) = (true, false)
    case "redis+sentinel": (isSecure, hasSentinels) = (false, true)
    case "rediss+sentinel": (isSecure, hasSentinels) = (true, true)
    case let other:
      throw Problem(
        text: "it begins with \(other.prefix(20)):// and not with redis://, rediss://, redis+sentinel:// or "
          + "rediss+sentinel://")
    }
    guard text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
      throw Problem(text: "it contains a blank or a character that must be percent-encoded")
    }
    let rest = text[text.index(colon, offsetBy: 3)...]
    guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else {
      throw Problem(text: "it has a query or fragment; write ? and # in a password as %3F and %23")
    }
    let authority = rest.prefix { $0 != "/" }
    var path = rest.dropFirst(authority.count).dropFirst()
    let hosts = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    if hasSentinels {
      var places: [Place] = []
      for text in hosts.split(separator: ",", omittingEmptySubsequences: false) {
        places.append(try Self.place(text, port: 26_379))
      }
      let name = path.prefix { $0 != "/" }
      path = path.dropFirst(name.count).dropFirst()
      guard let decoded = PercentEncoding.decode(name), !decoded.isEmpty else {
        throw Problem(text: "it does not name the primary behind the hosts of the sentinels, as in /mymaster")
      }
      (place, sentinels) = (places[0], Sentinels(places: places, name: decoded))
    } else {
      place = try Self.place(hosts, port: 6_379)
    }
    if !path.isEmpty {
      guard let number = Int(path), (0...65_535).contains(number) else {
        throw Problem(
          text: "the part after the \(hasSentinels ? "name" : "host") is not the number of a database, such as /0")
      }
      database = number
    }
    guard hosts.startIndex > authority.startIndex else { return }
    try setCredentials(authority[..<authority.index(before: hosts.startIndex)])
  }

  private static func place(_ text: Substring, port standard: UInt16) throws(Problem) -> Place {
    guard let (host, digits) = HostName.split(authority: text) else { throw Problem(text: "it names no host") }
    let port = digits.map { $0.isEmpty ? standard : UInt16($0) ?? 0 } ?? standard
    guard port > 0 else {
      throw Problem(text: "its port is not a number from 1 to 65535")
    }
    return Place(host, port: port)
  }

  private mutating func setCredentials(_ text: Substring) throws(Problem) {
    let user = text.prefix { $0 != ":" }
    guard let name = PercentEncoding.decode(user), let word = PercentEncoding.decode(text.dropFirst(user.count + 1))
    else { throw Problem(text: "a percent sign in its user or password does not begin an escape such as %40") }
    if !name.isEmpty { self.user = name }
    if text.count > user.count { password = word }
  }

  /// The address of a server that sentinels have named.
  package func at(_ place: Place) -> RedisAddress {
    var address = self
    address.place = place
    return address
  }

  /// Without the password.
  package var description: String {
    let hosts = (sentinels?.places ?? [place]).map(\.description).joined(separator: ",")
    let name = sentinels.map { "/\(PercentEncoding.encode($0.name))" } ?? ""
    let scheme = "redis\(isSecure ? "s" : "")\(sentinels == nil ? "" : "+sentinel")"
    return "\(scheme)://\(user.map { "\(PercentEncoding.encode($0))@" } ?? "")\(hosts)\(name)/\(database)"
  }
}
