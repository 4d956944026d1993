import RTCWire

/// Candidates of the remote peer that are known by name only, until it is resolved. Browsers hide their host addresses
/// so from pages that may not use the camera: the names are resolved by multicast DNS only.
struct CandidateNames {
  struct Waiting {
    let candidate: CandidateDescription
    let usernameFragment: String?
  }

  private static let maximumWaiting = 16

  private var waiting: [(name: String, candidate: Waiting)] = []
  private var asked: Set<String> = []
  /// Names that were not passed to a resolver yet.
  private(set) var unasked: [String] = []

  /// Candidates of this session whose names have no address: not yet, or not at all.
  var count: Int { waiting.count + unknown }
  private var unknown = 0

  mutating func add(_ candidate: CandidateDescription, usernameFragment: String?) {
    guard case .name(let text) = candidate.address, Self.isMDNSName(text), waiting.count < Self.maximumWaiting else {
      return
    }
    let name = text.lowercased()
    waiting.append((name, Waiting(candidate: candidate, usernameFragment: usernameFragment)))
    if asked.insert(name).inserted { unasked.append(name) }
  }

  /// - Returns: the names to ask for now, each once.
  mutating func takeUnasked() -> [String] {
    defer { unasked = [] }
    return unasked
  }

  /// The answer is there.
  /// - Parameter isKnown: whether the name has an address.
  /// - Returns: the candidates of that name.
  mutating func remove(_ name: String, isKnown: Bool) -> [Waiting] {
    let name = name.lowercased()
    let found = waiting.filter { $0.name == name }.map(\.candidate)
    waiting.removeAll { $0.name == name }
    asked.remove(name)
    if !isKnown { unknown += found.count }
    return found
  }

  /// A session begins that only candidates with this user name fragment are for.
  mutating func forget(except usernameFragment: String) {
    waiting.removeAll { $0.candidate.usernameFragment.map { $0 != usernameFragment } ?? false }
    unknown = 0
    asked.formIntersection(waiting.map(\.name))
    unasked.removeAll { !asked.contains($0) }
  }

  /// Whether a name is one label and `.local`. Other names would let a remote peer make us query a DNS server.
  private static func isMDNSName(_ name: String) -> Bool {
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    return labels.count == 2 && labels[1].lowercased() == "local"
  }
}
