import RTCPrimitives
import RTCWire

/// Passwords of time-limited users (draft-uberti-behave-turn-rest-00): the HMAC-SHA1 of the user name with the shared secret, in
/// Base64. The user name is the second of its end in Unix time, a colon, and any text.
package enum TURNPassword {
  /// The password of a user name.
  package static func timeLimited(username: Span<UInt8>, secret: Span<UInt8>) -> [UInt8] {
    let digest = STUNIntegrityKey(secret).authenticate(username)
    return Array(Base64URL.padded([UInt8](copying: digest.span)).utf8)
  }

  /// The end of a user name in seconds since 1970; nil when there is none in it.
  package static func end(of username: Span<UInt8>) -> Int64? {
    var seconds: Int64 = 0
    for index in username.indices {
      let byte = username[index]
      if byte == UInt8(ascii: ":") { return index > 0 ? seconds : nil }
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), index < 15 else { return nil }
      seconds = seconds * 10 + Int64(byte - UInt8(ascii: "0"))
    }
    return username.isEmpty ? nil : seconds
  }
}
