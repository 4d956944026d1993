public import RTCPrimitives
import RTCTURN

/// A TURN server that shares a secret with us: user names and passwords for it are made here, each good for a limited time
/// (draft-uberti-behave-turn-rest-00, which coturn calls `use-auth-secret`).
///
/// The user name is the second of its end in Unix time, a colon, and whom it was made for; the password is the HMAC-SHA1
/// of the user name with the secret, in Base64. The server needs no list of users for that.
public struct TURNService: Sendable, Hashable {
  /// The ways to the server.
  public var urls: [ICEServerURL]
  /// The lifetime of credentials.
  ///
  /// Clients get new ones after half of it. With half a day, a client that loses the hub can restart a call with the
  /// old ones for six hours, and stolen or shared credentials expire within a night.
  public var lifetime: TimeDelta
  private let secret: [UInt8]

  /// - Parameter secret: as the server has it (`static-auth-secret` of coturn).
  public init(urls: [ICEServerURL], secret: String, lifetime: TimeDelta = usualLifetime) {
    self.urls = urls
    self.secret = Array(secret.utf8)
    self.lifetime = lifetime
  }

  /// 12 hours.
  public static let usualLifetime = TimeDelta.seconds(12 * 3_600)

  /// The server with fresh credentials.
  /// - Parameters:
  ///   - name: whom they are for; shows up in the server's log.
  ///   - unixTime: now, in seconds since 1970.
  public func server(for name: String, unixTime: Int64) -> ICEServer {
    let end = unixTime + Int64(lifetime.seconds)
    let username = "\(end):\(Self.plain(name))"
    let password = TURNPassword.timeLimited(username: Array(username.utf8).span, secret: secret.span)
    return ICEServer(urls, username: username, credential: String(decoding: password, as: UTF8.self))
  }

  /// TURN servers refuse quotes, blanks and backslashes in user names, and may log invisible characters.
  private static func plain(_ name: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return name.utf8.reduce(into: "") { text, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
  }
}

extension TURNService: CustomStringConvertible, CustomDebugStringConvertible {
  /// Without the secret.
  public var description: String { urls.map(\.description).joined(separator: ", ") }
  /// Without the secret.
  public var debugDescription: String { description }
}
