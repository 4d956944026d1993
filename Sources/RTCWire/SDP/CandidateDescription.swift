public import RTCPrimitives

/// The type of a candidate (RFC 8445 §5.1.1); the raw value is its word in SDP.
public enum ICECandidateKind: String, Hashable, Sendable {
  case host
  case serverReflexive = "srflx"
  case peerReflexive = "prflx"
  case relayed = "relay"
}

/// One ICE candidate as text (RFC 8839 §5.1, RFC 6544 §4.5 for TCP).
///
///     candidate:1 1 udp 2113937151 192.0.2.7 50000 typ srflx raddr 10.0.0.7 rport 50000 ufrag x9f2
public struct CandidateDescription: Hashable, Sendable {
  /// 1…32 characters; candidates of the same base, type and server share it.
  public var foundation: String
  /// 1 = RTP (and everything muxed with it), 2 = RTCP; 1…256.
  public var component: UInt16
  /// The transport protocol of the candidate.
  public var transport: Transport
  /// 1…2³²−1 on parsing; RFC 8445 §5.1.2 permits up to 2³¹−1.
  public var priority: UInt32
  /// The address of the candidate.
  public var address: Address
  /// The port at `address`.
  public var port: UInt16
  /// How the candidate was found (`typ`).
  public var kind: ICECandidateKind
  /// The base of a reflexive or relayed candidate; for diagnosis only.
  public var related: Related?
  /// The generation of credentials it belongs to, when said.
  public var usernameFragment: String?

  /// The transports that a candidate can have.
  public enum Transport: Hashable, Sendable {
    case udp
    case tcp(TCPType)
  }

  /// The side that opens a TCP connection (RFC 6544 §4.5); the raw value is the word after `tcptype`.
  public enum TCPType: String, Hashable, Sendable {
    case active, passive
    case simultaneousOpen = "so"
  }

  /// An IP address or a host name.
  public enum Address: Hashable, Sendable, CustomStringConvertible {
    case ip(IPAddress)
    /// A host name still to be resolved: mDNS (`….local`) or any other FQDN.
    case name(String)

    /// The address or the name, as it stands in SDP.
    public var description: String {
      switch self {
      case .ip(let ip): ip.description
      case .name(let name): name
      }
    }
  }

  /// A related address and port (`raddr`, `rport`).
  public struct Related: Hashable, Sendable {
    /// The address after `raddr`.
    public var address: Address
    /// The port after `rport`; 0 when it is not said.
    public var port: UInt16
    /// The port `port` at `address`.
    public init(address: Address, port: UInt16) {
      self.address = address
      self.port = port
    }
  }

  /// Takes all values as they are; nothing is checked.
  public init(
    foundation: String, component: UInt16 = 1, transport: Transport = .udp, priority: UInt32, address: Address,
    port: UInt16, kind: ICECandidateKind, related: Related? = nil, usernameFragment: String? = nil
  ) {
    self.foundation = foundation
    self.component = component
    self.transport = transport
    self.priority = priority
    self.address = address
    self.port = port
    self.kind = kind
    self.related = related
    self.usernameFragment = usernameFragment
  }

  /// From `candidate:…`, with or without a leading `a=`; nil for anything else, the empty string included.
  public init?(parsing text: String) {
    var rest = text[...]
    if rest.hasPrefix("a=") { rest = rest.dropFirst(2) }
    guard rest.hasPrefix("candidate:") else { return nil }
    self.init(value: rest.dropFirst(10))
  }

  /// Parses the attribute's value, after `candidate:`.
  init?(value: Substring) {
    guard value.utf8.count <= 1_024, value.utf8.allSatisfy({ $0 >= 0x20 }) else { return nil }
    let fields = value.fields
    guard fields.count >= 8, (1...32).contains(fields[0].utf8.count),
      let component = fields[1].decimal(UInt16.self), (1...256).contains(component),
      let priority = fields[3].decimal(UInt32.self), priority > 0,
      let address = Address(parsing: fields[4]), let port = fields[5].decimal(UInt16.self),
      fields[6] == "typ", let kind = ICECandidateKind(rawValue: fields[7].lowercased())
    else { return nil }
    let extensions = Self.extensions(fields[8...])
    switch fields[2].lowercased() {
    case "udp": transport = .udp
    case "tcp":
      // RFC 6544 requires the type; earlier senders meant the one now called passive.
      guard let type = TCPType(rawValue: extensions.tcpType?.lowercased() ?? "passive") else { return nil }
      transport = .tcp(type)
    default: return nil
    }
    foundation = String(fields[0])
    self.component = component
    self.priority = priority
    self.address = address
    self.port = port
    self.kind = kind
    related = extensions.related
    usernameFragment = extensions.usernameFragment
  }

  private static func extensions(
    _ fields: ArraySlice<Substring>
  ) -> (tcpType: Substring?, related: Related?, usernameFragment: String?) {
    var address: Address?
    var port: UInt16 = 0
    var tcpType: Substring?
    var usernameFragment: String?
    var index = fields.startIndex
    while index + 1 < fields.endIndex {
      let value = fields[index + 1]
      switch fields[index] {
      case "raddr": address = Address(parsing: value)
      case "rport": port = value.decimal() ?? 0
      case "tcptype": tcpType = value
      case "ufrag": usernameFragment = ICECredentials.isUsernameFragment(value) ? String(value) : nil
      default: break  // generation, network-id, network-cost and other extensions
      }
      index += 2
    }
    return (tcpType, address.map { Related(address: $0, port: port) }, usernameFragment)
  }

  /// The attribute's value, after `candidate:`.
  var value: String {
    var text = "\(foundation) \(component)"
    if case .udp = transport { text += " udp" } else { text += " tcp" }
    text += " \(priority) \(address) \(port) typ \(kind.rawValue)"
    if let related { text += " raddr \(related.address) rport \(related.port)" }
    if case .tcp(let type) = transport { text += " tcptype \(type.rawValue)" }
    if let usernameFragment { text += " ufrag \(usernameFragment)" }
    return text
  }
}

extension CandidateDescription: CustomStringConvertible {
  /// `candidate:…`, as trickled.
  public var description: String { "candidate:" + value }
}

extension CandidateDescription.Address {
  init?(parsing text: Substring) {
    if let ip = IPAddress(text) {
      self = .ip(ip)
      return
    }
    guard text.utf8.count <= 253 else { return nil }
    let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let isName = labels.allSatisfy { label in
      (1...63).contains(label.count)
        && label.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 48...57, UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
          default: false
          }
        }
    }
    // A last label of digits alone is a broken IPv4 address, never a name.
    guard isName, labels.count >= 2, let last = labels.last, !last.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    self = .name(String(text))
  }
}
