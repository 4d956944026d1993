/// A username fragment and password of ICE (RFC 8445 §5.3, as text RFC 8839 §5.4).
public struct ICECredentials: Hashable, Sendable {
  /// `a=ice-ufrag`: 4…256 ice-chars when well-formed.
  public let usernameFragment: String
  /// `a=ice-pwd`: 22…256 ice-chars when well-formed.
  public let password: String

  /// Makes credentials without checking them; see `isWellFormed`.
  public init(usernameFragment: String, password: String) {
    self.usernameFragment = usernameFragment
    self.password = password
  }

  /// Whether both are long enough and consist of ice-chars (RFC 8839 §5.4).
  public var isWellFormed: Bool {
    Self.fragmentLength.contains(usernameFragment.utf8.count) && Self.passwordLength.contains(password.utf8.count)
      && usernameFragment.utf8.allSatisfy(Self.isICEChar) && password.utf8.allSatisfy(Self.isICEChar)
  }

  // A description is read all the same with other visible characters, which peers in the field use.
  static func isUsernameFragment(_ text: Substring) -> Bool { isVisible(text, fragmentLength) }
  static func isPassword(_ text: Substring) -> Bool { isVisible(text, passwordLength) }

  private static let fragmentLength = 4...256
  private static let passwordLength = 22...256

  private static func isVisible(_ text: Substring, _ length: ClosedRange<Int>) -> Bool {
    length.contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  private static func isICEChar(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
