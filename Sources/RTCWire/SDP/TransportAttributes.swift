public import RTCPrimitives

extension CertificateFingerprint {
  /// The attribute's value: `sha-256 AA:BB:…`, upper or lower case (RFC 8122 §5).
  package init?(parsing text: Substring) {
    let (algorithm, digits) = text.firstFieldAndRest
    guard isToken(algorithm, upTo: 32) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    var high: UInt8?
    var wantsColon = false
    for character in digits.utf8 {
      if wantsColon {
        guard character == UInt8(ascii: ":") else { return nil }
        wantsColon = false
        continue
      }
      guard let digit = character.hexDigit else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        (high, wantsColon) = (nil, true)
      } else {
        high = digit
      }
    }
    guard wantsColon, (16...64).contains(bytes.count) else { return nil }
    self.init(algorithm: algorithm.lowercased(), bytes: bytes)
  }

  var text: String { algorithm + " " + digits }
}

extension UInt8 {
  /// The value of an ASCII hexadecimal digit; nil for anything else.
  fileprivate var hexDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// How an m-section's packets travel. Values said once at session level stand in every m-section after parsing.
public struct TransportAttributes: Hashable, Sendable {
  /// `a=ice-ufrag`, 4…256 visible characters on parsing (RFC 8839 §5.4); nil when it is not said.
  public var usernameFragment: String?
  /// `a=ice-pwd`, 22…256 visible characters on parsing (RFC 8839 §5.4); nil when it is not said.
  public var password: String?
  /// `a=ice-options` (RFC 8839 §5.6): on parsing the first sixteen, without repeats.
  public var iceOptions: [String] = []
  /// `a=fingerprint`: the digests of the certificates that DTLS may show (RFC 8122 §5); at most `PeerLimits.fingerprints` on parsing.
  public var fingerprints: [CertificateFingerprint] = []
  /// `a=setup`: the side that begins the DTLS handshake (RFC 4145 §4, RFC 8842 §5); nil if absent.
  public var setup: SetupRole?
  /// Candidates that could be read; others are left out (RFC 8839 §4.2.1).
  public var candidates: [CandidateDescription] = []
  /// `a=end-of-candidates`: no more candidates will come (RFC 8840 §8).
  public var endOfCandidates = false

  /// No attributes.
  public init() {}

  /// Nil unless both halves are given.
  public var credentials: ICECredentials? {
    get {
      guard let usernameFragment, let password else { return nil }
      return ICECredentials(usernameFragment: usernameFragment, password: password)
    }
    set {
      usernameFragment = newValue?.usernameFragment
      password = newValue?.password
    }
  }

  /// True when `trickle` is among the ICE options: candidates may follow the description (RFC 8838 §3).
  public var supportsTrickle: Bool { iceOptions.contains("trickle") }

  /// Takes the attribute if it is one of these; false otherwise.
  mutating func apply(_ name: String, _ value: Substring, _ line: SDPLine) throws(SDPError) -> Bool {
    switch name {
    case "ice-ufrag":
      guard ICECredentials.isUsernameFragment(value) else { throw line.invalid("ice-ufrag") }
      usernameFragment = String(value)
    case "ice-pwd":
      guard ICECredentials.isPassword(value) else { throw line.invalid("ice-pwd") }
      password = String(value)
    case "ice-options":
      if iceOptions.count < Self.maximumOptions { addOptions(value.fields.map { String($0) }) }
    case "fingerprint":
      guard let fingerprint = CertificateFingerprint(parsing: value), fingerprints.count < PeerLimits.fingerprints
      else {
        throw line.invalid("fingerprint")
      }
      fingerprints.append(fingerprint)
    case "setup":
      guard let role = SetupRole(rawValue: value.lowercased()) else { throw line.invalid("setup") }
      setup = role
    case "candidate":
      if let candidate = CandidateDescription(value: value) { candidates.append(candidate) }
    case "end-of-candidates": endOfCandidates = true
    default: return false
    }
    return true
  }

  /// Two are in use anywhere.
  private static let maximumOptions = 16

  /// Adds options; duplicates are dropped.
  mutating func addOptions(_ options: [String]) {
    for option in options where iceOptions.count < Self.maximumOptions && !iceOptions.contains(option) {
      iceOptions.append(option)
    }
  }

  /// Fills in what only the session level said.
  mutating func inherit(_ session: TransportAttributes) {
    if usernameFragment == nil && password == nil { credentials = session.credentials }
    addOptions(session.iceOptions)
    if fingerprints.isEmpty { fingerprints = session.fingerprints }
    setup = setup ?? session.setup
    endOfCandidates = endOfCandidates || session.endOfCandidates
  }

  func write(into writer: inout SDPWriter) {
    for candidate in candidates { writer.attribute("candidate", candidate.value) }
    if endOfCandidates { writer.attribute("end-of-candidates") }
    if let usernameFragment { writer.attribute("ice-ufrag", usernameFragment) }
    if let password { writer.attribute("ice-pwd", password) }
    if !iceOptions.isEmpty { writer.attribute("ice-options", iceOptions.joined(separator: " ")) }
    for fingerprint in fingerprints { writer.attribute("fingerprint", fingerprint.text) }
    if let setup { writer.attribute("setup", setup.rawValue) }
  }
}

/// The side that begins the DTLS handshake (RFC 4145 §4, RFC 8842 §5).
public enum SetupRole: String, Hashable, Sendable {
  case active, passive, actpass, holdconn
}
