import RTCPrimitives

/// The pairs of one session, highest priority first, and the queue of triggered checks (RFC 8445 §6.1.2, §6.1.4.1).
struct Checklist {
  enum Insertion {
    case added(Int)
    case known(Int)
    case full
  }

  private(set) var pairs: [CandidatePair] = []
  private var triggered: [Int] = []
  private var nextID = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  subscript(index: Int) -> CandidatePair {
    get { pairs[index] }
    set { pairs[index] = newValue }
  }

  func index(id: Int) -> Int? { pairs.firstIndex { $0.id == id } }
  func index(route: Route) -> Int? {
    let key = route.key
    return pairs.firstIndex { $0.route.key == key }
  }

  /// The highest-priority valid pair (RFC 8445 §7.2.5.3.2).
  var bestValid: Int? { pairs.firstIndex { $0.state == .succeeded } }

  /// Nothing is left to try: each pair works or does not.
  var isExhausted: Bool {
    triggered.isEmpty
      && pairs.allSatisfy { $0.state == .failed || $0.state == .succeeded && $0.nomination != .underWay }
  }

  /// When something last came on any pair that works; nil when none does.
  var lastHeardOnValid: Timestamp? { pairs.filter { $0.state == .succeeded }.map(\.heardAt).max() }

  /// Checks under way or about to be, for the retransmission time (RFC 8445 §14.3).
  var activeCount: Int { pairs.count { $0.state == .waiting || $0.state == .inProgress } }

  /// Adds a pair in the order of priorities. A pair of the same route is not added again, but takes the better knowledge
  /// of its remote candidate. When the list is full, the least useful pair gives way to a better one.
  mutating func insert(local: ICECandidate, remote: ICECandidate, route: Route, role: ICERole) -> Insertion {
    if let index = index(route: route) {
      guard pairs[index].remote.kind == .peerReflexive, remote.kind != .peerReflexive else { return .known(index) }
      pairs[index].remote = remote
      let id = pairs[index].id
      reprioritize(role: role)
      return .known(self.index(id: id)!)
    }
    var pair = CandidatePair(id: nextID, local: local, remote: remote, route: route)
    pair.priority = CandidatePair.priority(local: local.priority, remote: remote.priority, role: role)
    if pairs.count >= limit {
      guard let victim = leastUseful(below: pair.priority) else { return .full }
      let id = pairs.remove(at: victim).id
      triggered.removeAll { $0 == id }
    }
    if !pairs.contains(where: { $0.hasFoundation(of: pair) && $0.state != .succeeded && $0.state != .failed }) {
      pair.state = .waiting
    }
    nextID += 1
    let position = pairs.firstIndex { $0.priority < pair.priority } ?? pairs.count
    pairs.insert(pair, at: position)
    return .added(position)
  }

  /// Works out priorities anew and sorts, after a change of role.
  mutating func reprioritize(role: ICERole) {
    for i in pairs.indices {
      pairs[i].priority = CandidatePair.priority(
        local: pairs[i].local.priority, remote: pairs[i].remote.priority, role: role)
    }
    pairs.sort { ($0.priority, $1.id) > ($1.priority, $0.id) }
  }

  /// Puts a pair into the triggered-check queue (RFC 8445 §7.3.1.4), ahead of the others when `first`.
  mutating func trigger(_ index: Int, first: Bool = false) {
    let id = pairs[index].id
    if pairs[index].state != .succeeded { pairs[index].state = .waiting }
    guard !triggered.contains(id) else { return }
    triggered.insert(id, at: first ? 0 : triggered.count)
  }

  /// The pair to check next (RFC 8445 §6.1.4.2): triggered ones, then waiting ones, then a frozen one whose
  /// foundation is not being checked.
  /// - Parameter triggeredOnly: once a pair is selected, the rest of the list rests.
  func nextToCheck(triggeredOnly: Bool) -> Int? {
    if let id = triggered.first { return index(id: id) }
    guard !triggeredOnly else { return nil }
    if let index = pairs.firstIndex(where: { $0.state == .waiting }) { return index }
    return pairs.indices.first { i in
      pairs[i].state == .frozen && !pairs.contains { $0.state == .inProgress && $0.hasFoundation(of: pairs[i]) }
    }
  }

  /// The check of a pair goes out.
  mutating func start(_ index: Int) {
    let id = pairs[index].id
    triggered.removeAll { $0 == id }
    if pairs[index].state != .succeeded { pairs[index].state = .inProgress }
  }

  /// A check succeeded: pairs of the same foundation are likely to work too (RFC 8445 §7.2.5.3.3).
  mutating func succeed(_ index: Int) {
    pairs[index].state = .succeeded
    for i in pairs.indices where pairs[i].state == .frozen && pairs[i].hasFoundation(of: pairs[index]) {
      pairs[i].state = .waiting
    }
  }

  mutating func fail(_ index: Int) {
    let id = pairs[index].id
    triggered.removeAll { $0 == id }
    pairs[index].state = .failed
    pairs[index].nomination = .none
  }

  private func leastUseful(below priority: UInt64) -> Int? {
    if let failed = pairs.lastIndex(where: { $0.state == .failed }) { return failed }
    return pairs.lastIndex { ($0.state == .frozen || $0.state == .waiting) && $0.priority < priority }
  }
}
