import RTCPrimitives

/// The pairs of one session, highest priority first, and the queue of triggered checks (RFC 8445 §6.1.2, §6.1.4.1).
///
/// Ordinary checks alternate between the kinds of pairs, so that hundreds of host pairs do not starve a relay or an
/// address family; within a kind, candidates with the fewest tries come first, then by priority. Pairs beyond the limit
/// wait in a reserve and replace those that were checked longest ago.
struct Checklist {
  enum Insertion {
    case added(Int)
    case known(Int)
    /// It waits in the reserve, or there was no room at all.
    case full(isKept: Bool)
  }

  /// The next check.
  enum Choice: Hashable {
    case pair(Int)
    case reserved(Int)
  }

  private(set) var pairs: [CandidatePair] = []
  private var triggered: [Int] = []
  private var reserve: [CandidatePair] = []
  private var nextID = 0
  private let limit: Int
  private let reserveLimit: Int
  private var scheduler = CheckScheduler()
  /// The last check was a triggered one: the next is an ordinary one, if there is any.
  private var hasJustTriggered = false
  /// The maximum number of peer-reflexive candidates of one IP address that are tried at a time from one base. A NAT
  /// with a port for each destination shows a new one with each check, without end, and none of them works.
  private static let mostReflexions = 8

  init(limit: Int, reserve: Int) {
    self.limit = limit
    reserveLimit = reserve
  }

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

  /// Whether all checks are done: each pair works or has failed.
  var isExhausted: Bool {
    triggered.isEmpty && reserve.isEmpty
      && pairs.allSatisfy { $0.state == .failed || $0.state == .succeeded && $0.nomination != .underWay }
  }

  /// When something last came on any pair that works; nil when none does.
  var lastHeardOnValid: Timestamp? { pairs.filter { $0.state == .succeeded }.map(\.heardAt).max() }

  /// Checks under way or about to be, for the retransmission time (RFC 8445 §14.3).
  var activeCount: Int { pairs.count { $0.state == .waiting || $0.state == .inProgress } }

  /// The pairs so far by sort, those in the reserve included.
  var counts: [CandidatePairKind: Int] {
    (pairs + reserve).reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
  }

  // MARK: - Pairs

  /// Adds a pair in the order of priorities. A pair of the same route is not added again, but takes better knowledge of
  /// its remote candidate.
  /// - Parameter isLearned: the remote peer uses the pair, so it replaces one without any result.
  mutating func insert(
    local: ICECandidate, remote: ICECandidate, route: Route, role: ICERole, isLearned: Bool = false
  ) -> Insertion {
    if let index = index(route: route) {
      guard pairs[index].remote.kind == .peerReflexive, remote.kind != .peerReflexive else { return .known(index) }
      pairs[index].remote = remote
      let id = pairs[index].id
      reprioritize(role: role)
      return .known(self.index(id: id)!)
    }
    let key = route.key
    if let known = reserve.firstIndex(where: { $0.route.key == key }) {
      guard isLearned else { return .full(isKept: true) }
      return admit(known).map { .added($0) } ?? .full(isKept: false)
    }
    var pair = CandidatePair(id: nextID, local: local, remote: remote, route: route)
    pair.priority = CandidatePair.priority(local: local.priority, remote: remote.priority, role: role)
    nextID += 1
    if remote.kind == .peerReflexive { forgetReflexion(before: pair) }
    guard pairs.count < limit || makeRoom(isLearned: isLearned) else {
      guard reserve.count < reserveLimit else { return .full(isKept: false) }
      reserve.append(pair)
      return .full(isKept: true)
    }
    return .added(place(pair))
  }

  private mutating func place(_ pair: CandidatePair) -> Int {
    let position = pairs.firstIndex { $0.priority < pair.priority } ?? pairs.count
    pairs.insert(pair, at: position)
    return position
  }

  /// Takes a failed pair out, or for a pair that the remote peer uses one that waits.
  private mutating func makeRoom(isLearned: Bool) -> Bool {
    if let failed = pairs.lastIndex(where: { $0.state == .failed }) {
      _ = removePair(failed)
      return true
    }
    guard isLearned, let waiting = pairs.lastIndex(where: { $0.state == .waiting && !triggered.contains($0.id) }) else {
      return false
    }
    keep(removePair(waiting))
    return true
  }

  private mutating func forgetReflexion(before new: CandidatePair) {
    let alike = pairs.indices.filter { i in
      pairs[i].remote.kind == .peerReflexive && pairs[i].state != .succeeded && pairs[i].nomination != .underWay
        && pairs[i].route.remote.ip == new.route.remote.ip && pairs[i].local.isSame(as: new.local)
    }
    guard alike.count >= Self.mostReflexions, let oldest = alike.min(by: { pairs[$0].id < pairs[$1].id }) else {
      return
    }
    _ = removePair(oldest)
  }

  private mutating func keep(_ pair: CandidatePair) {
    guard reserve.count < reserveLimit else { return }
    var pair = pair
    pair.state = .waiting
    pair.nomination = .none
    reserve.append(pair)
  }

  private mutating func removePair(_ index: Int) -> CandidatePair {
    let pair = pairs.remove(at: index)
    triggered.removeAll { $0 == pair.id }
    return pair
  }

  /// Takes the pairs out that `isGone`, those in the reserve too.
  mutating func removeAll(where isGone: (CandidatePair) -> Bool) {
    let gone = Set(pairs.filter(isGone).map(\.id))
    pairs.removeAll { gone.contains($0.id) }
    triggered.removeAll { gone.contains($0) }
    reserve.removeAll(where: isGone)
  }

  /// Recomputes priorities and sorts, after a change of role.
  mutating func reprioritize(role: ICERole) {
    for i in pairs.indices {
      pairs[i].priority = CandidatePair.priority(
        local: pairs[i].local.priority, remote: pairs[i].remote.priority, role: role)
    }
    for i in reserve.indices {
      reserve[i].priority = CandidatePair.priority(
        local: reserve[i].local.priority, remote: reserve[i].remote.priority, role: role)
    }
    pairs.sort { ($0.priority, $1.id) > ($1.priority, $0.id) }
  }

  // MARK: - Checks

  /// Puts a pair into the triggered-check queue (RFC 8445 §7.3.1.4), ahead of the others when `first`.
  mutating func trigger(_ index: Int, first: Bool = false) {
    let id = pairs[index].id
    if pairs[index].state != .succeeded { pairs[index].state = .waiting }
    guard !triggered.contains(id) else { return }
    triggered.insert(id, at: first ? 0 : triggered.count)
  }

  /// The next check (RFC 8445 §6.1.4.2): a nomination, else triggered and waiting pairs in turns. The RFC puts all
  /// triggered ones first; if each of them triggers another one at the remote peer, the others would never be checked.
  /// - Parameter floor: once a pair is selected, only better ones are tried.
  func nextToCheck(above floor: UInt64?) -> Choice? {
    let first = triggered.lazy.compactMap { index(id: $0) }.first
    if let first, pairs[first].nomination == .underWay || !hasJustTriggered { return .pair(first) }
    return nextOrdinary(above: floor) ?? first.map { .pair($0) }
  }

  private func nextOrdinary(above floor: UInt64?) -> Choice? {
    var best: (choice: Choice, turn: CheckScheduler.Turn)?
    func consider(_ pair: CandidatePair, _ choice: Choice) {
      if let floor, pair.priority <= floor { return }
      let turn = scheduler.turn(of: pair)
      if best.map({ turn < $0.turn }) ?? true { best = (choice, turn) }
    }
    for (index, pair) in pairs.enumerated() where pair.state == .waiting && !triggered.contains(pair.id) {
      consider(pair, .pair(index))
    }
    for (index, pair) in reserve.enumerated() { consider(pair, .reserved(index)) }
    return best?.choice
  }

  /// Whether the chosen pair is between hosts, which decides its pacing.
  func isBetweenHosts(_ choice: Choice) -> Bool {
    switch choice {
    case .pair(let index): pairs[index].isBetweenHosts
    case .reserved(let index): reserve[index].isBetweenHosts
    }
  }

  /// Gives a pair of the reserve a place: that of a pair that failed, waits, or was checked longest ago.
  /// - Returns: its index; nil if all places belong to working pairs.
  mutating func admit(_ index: Int) -> Int? {
    let pair = reserve.remove(at: index)
    if pairs.count >= limit, !makeRoom(isLearned: true) {
      let tried = pairs.indices.filter { pairs[$0].state == .inProgress && pairs[$0].nomination == .none }
      guard let oldest = tried.min(by: { pairs[$0].checkedAt < pairs[$1].checkedAt }) else { return nil }
      let old = removePair(oldest)
      if old.requestsSent < CheckScheduler.mostTries { keep(old) }
    }
    return place(pair)
  }

  /// The check of a pair goes out.
  mutating func start(_ index: Int, now: Timestamp) {
    let id = pairs[index].id
    hasJustTriggered = triggered.contains(id)
    triggered.removeAll { $0 == id }
    if pairs[index].state != .succeeded { pairs[index].state = .inProgress }
    pairs[index].checkedAt = now
    scheduler.take(pairs[index])
  }

  mutating func succeed(_ index: Int) {
    pairs[index].state = .succeeded
    pairs[index].responsesReceived += 1
  }

  mutating func fail(_ index: Int) {
    let id = pairs[index].id
    triggered.removeAll { $0 == id }
    pairs[index].state = .failed
    pairs[index].nomination = .none
  }

  /// Discards the results of all pairs except `spared`: each is to be checked again.
  mutating func doubt(except spared: Int?) {
    for i in pairs.indices where pairs[i].id != spared {
      pairs[i].state = .waiting
      pairs[i].nomination = .none
    }
  }

  /// Discards the result of one pair.
  mutating func doubt(only id: Int) {
    if let index = index(id: id) { pairs[index].state = .waiting }
  }

  /// Checks of these are given up; they are tried again if they are ever needed.
  mutating func rest(below floor: UInt64) {
    for i in pairs.indices where pairs[i].state == .inProgress && pairs[i].priority < floor {
      pairs[i].state = .waiting
    }
  }
}
