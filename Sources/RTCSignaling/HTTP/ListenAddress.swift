import RTCPrimitives

/// The address that a signaling server listens at: a host or IP address and a port (0 lets the system choose), or the path of
/// a Unix socket.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address to listen at.
  public var host: HostName
  /// 0 lets the system choose.
  public var port: UInt16
  /// The path of a Unix socket, in place of host and port; nil for TCP.
  public private(set) var socketPath: String?

  /// 127.0.0.1 and a port that the system chooses.
  public static let loopback = ListenAddress(host: HostName("127.0.0.1"), port: 0)

  /// Every address of the machine, IPv4 and IPv6: `[::]`. `0.0.0.0` is every IPv4 address alone.
  public static func everywhere(port: UInt16) -> ListenAddress { ListenAddress(host: HostName("::"), port: port) }

  /// Makes an address.
  public init(host: HostName, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// A Unix socket.
  public static func unixSocket(_ path: String) -> ListenAddress {
    var address = ListenAddress(host: HostName(""), port: 0)
    address.socketPath = path
    return address
  }

  /// Parses `HOST:PORT`, `HOST`, `[V6]:PORT`, `[V6]`, `:PORT` (every address), `PORT` (loopback) and
  /// `unix:PATH`.
  public init(parsing text: String) throws(ListenAddressError) {
    if text.hasPrefix("unix:") {
      guard text.utf8.count > 5 else { throw .malformed(text) }
      self = .unixSocket(String(text.dropFirst(5)))
    } else if text.utf8.allSatisfy({ (48...57).contains($0) }), !text.isEmpty {
      self.init(host: Self.loopback.host, port: try Self.port(text[...], of: text))
    } else if text.hasPrefix(":"), text.utf8.dropFirst().allSatisfy({ (48...57).contains($0) }), text.utf8.count > 1 {
      self = .everywhere(port: try Self.port(text.dropFirst(), of: text))
    } else {
      guard let (host, port) = HostName.split(authority: text) else {
        throw text.filter({ $0 == ":" }).count > 1 && !text.contains("[") ? .bareIPv6(text) : .malformed(text)
      }
      guard let port else {
        self.init(host: host, port: 0)
        return
      }
      self.init(host: host, port: try Self.port(port, of: text))
    }
  }

  private static func port(_ digits: Substring, of text: String) throws(ListenAddressError) -> UInt16 {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { throw .malformed(text) }
    guard let port = UInt16(digits) else { throw .portTooLarge(String(digits)) }
    return port
  }

  /// `HOST:PORT`, IPv6 in brackets, or `unix:PATH`.
  public var description: String {
    socketPath.map { "unix:" + $0 } ?? "\(host.isIPv6 ? "[\(host.text)]" : host.text):\(port)"
  }

  /// The URL for a browser on this machine, with a final slash. A token is in the fragment, which browsers do not send
  /// to servers. A Unix socket has no URL: its link is `unix:PATH`, with the fragment.
  public func link(token: AccessToken?, isSecure: Bool = false) -> String {
    let fragment = token.map { "#token=" + $0.inURL } ?? ""
    if let socketPath { return "unix:" + socketPath + fragment }
    let shown =
      switch host.text {
      case "0.0.0.0": "127.0.0.1"
      case "::": "[::1]"
      default: host.inURL
      }
    return "\(isSecure ? "https" : "http")://\(shown):\(port)/" + fragment
  }
}

/// The reason why a text is not an address to listen at: the caller's fault.
public enum ListenAddressError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text is not HOST:PORT.
  case malformed(String)
  /// An IPv6 address needs brackets.
  case bareIPv6(String)
  /// Ports end at 65535.
  case portTooLarge(String)

  /// A sentence for the user: the reason and the right form.
  public var description: String {
    switch self {
    case .malformed(let text):
      "\"\(text)\" is not an address to listen at; write HOST:PORT, such as "
        + "\(IPAddress(text)?.isV4 == true ? text : "127.0.0.1"):8080, or unix:PATH."
    case .bareIPv6(let text): "\"\(text)\" looks like an IPv6 address; write it in brackets, such as [::1]:8080."
    case .portTooLarge(let text): "\(text) is not a port; ports go from 0 (any free one) to 65535."
    }
  }
}
