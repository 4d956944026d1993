/// A search for the node of a Redis Cluster that has the keys of the hubs: each node names the one that has them. Redis at
/// a fixed address is the only node. Sans-IO.
package struct NodeSearch: Sendable {
  /// The place that the operator has given.
  private let first: RedisAddress.Place
  /// All nodes that are known, the one that was named last first.
  private var nodes: [RedisAddress.Place]
  /// Attempts since a node could be used.
  private var attempts = 0
  /// How often a node has named another one since this attempt began.
  private var redirections = 0

  package static let mostNodes = 8
  package static let mostRedirections = 5

  package init(_ first: RedisAddress.Place) { (self.first, nodes) = (first, [first]) }

  /// Begins an attempt. Returns the node to connect to: after a failure, the next one of those that are known.
  package mutating func begin() -> RedisAddress.Place {
    let place = nodes[attempts % nodes.count]
    attempts += 1
    redirections = 0
    return place
  }

  /// Follows a node that names another one as having the keys; nil: the answer is of no use, or the nodes disagree.
  package mutating func follow(_ text: String, from asked: RedisAddress.Place) -> RedisAddress.Place? {
    guard redirections < Self.mostRedirections, let place = RedisAddress.Place(node: text, asking: asked) else {
      return nil
    }
    redirections += 1
    nodes.removeAll { $0 == place }
    nodes.insert(place, at: 0)
    if nodes.count > Self.mostNodes, let oldest = nodes.lastIndex(where: { $0 != first }) { nodes.remove(at: oldest) }
    return place
  }

  /// The node that was named last can be used.
  package mutating func prove() { attempts = 0 }
}
