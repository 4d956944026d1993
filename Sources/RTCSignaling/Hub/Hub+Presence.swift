import RTCPrimitives

/// The list of peers, for clients that have a name: a client that may register may see the others. A name is listed
/// until it is free again, so one whose connection broke is listed while it may return.
extension Hub {
  mutating func list(for id: HubConnectionID, isFollowing: Bool, _ now: Timestamp) throws(HubFault) {
    let name = try name(of: id)
    // The answer may be long.
    let names = listedNames()
    let weight = max(configuration.limits.listWeight, Double(names.count / configuration.limits.namesPerMessage))
    guard connections[id]?.messages.take(weight - 1, now: now) == true else { throw .tooFast }
    send(.present(names.filter { $0 != name }), to: id)
    guard isFollowing else { return followers.removeAll { $0 == id } }
    guard !followers.contains(id) else { return }
    guard followers.count < configuration.limits.followers else { throw .tooManyFollowers }
    followers.append(id)
  }

  /// The names that can be called, sorted; nil if the token is wrong.
  /// - Parameter address: the client's IP address.
  package func peerNames(showing token: String, from address: String, now: AccessTime) -> [String]? {
    guard (try? gate.evaluate(token, for: .call, from: address, now: now)) != nil else { return nil }
    return allListedNames()
  }

  /// The names that others see at this hub and at others, sorted.
  func allListedNames() -> [String] {
    let own = peers.lazy.filter { $0.value.isListed }.map(\.key)
    return remotes.isEmpty ? own.sorted() : (own + remotes.values.lazy.filter(\.isListed).map(\.name)).sorted()
  }

  mutating func tellFollowers(_ notice: HubNotice, but id: HubConnectionID?) {
    for follower in followers where follower != id { send(notice, to: follower) }
  }
}
