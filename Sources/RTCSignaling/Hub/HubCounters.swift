/// Counters of a hub since its start, and its present sizes.
public struct HubCounters: Sendable, Equatable {
  /// Open now.
  public var connections = 0
  /// Names now, those whose connection broke included.
  public var peers = 0
  /// Names at other hubs.
  public var remotePeers = 0
  /// Whether the hub does not reach the others.
  public var isDegraded = false
  /// The peers whose connection broke and that may return.
  public var absentPeers = 0
  /// Rooms with members.
  public var rooms = 0
  /// Pairs of clients of different dialects with calls between them.
  public var bridges = 0
  /// Messages that wait for owners whose connection broke.
  public var heldMessages = 0
  /// Bytes of the held messages.
  public var heldBytes = 0

  /// Since the start.
  public var connectionsOpened: UInt64 = 0
  /// New names since the start.
  public var registrations: UInt64 = 0
  /// Names resumed since the start.
  public var resumptions: UInt64 = 0
  /// Since the start.
  public var messagesReceived: UInt64 = 0
  /// Delivered to another peer, since the start.
  public var messagesRelayed: UInt64 = 0
  /// By code.
  public var faults: [String: UInt64] = [:]

  /// All at 0.
  public init() {}

  /// The figures in Prometheus' text format, version 0.0.4.
  public var prometheus: String {
    var text = ""
    func figure(_ name: String, _ type: String, _ help: String, _ value: String) {
      text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n\(name) \(value)\n"
    }
    figure("rtcast_hub_connections", "gauge", "Open connections to the hub.", "\(connections)")
    figure("rtcast_hub_peers", "gauge", "Names taken.", "\(peers)")
    figure("rtcast_hub_absent_peers", "gauge", "Names kept for an owner whose connection broke.", "\(absentPeers)")
    figure("rtcast_hub_remote_peers", "gauge", "Names at other hubs of the cluster.", "\(remotePeers)")
    figure("rtcast_hub_degraded", "gauge", "1 while the hub does not reach Redis.", isDegraded ? "1" : "0")
    figure("rtcast_hub_rooms", "gauge", "Rooms with somebody in them.", "\(rooms)")
    figure("rtcast_hub_held_messages", "gauge", "Messages that wait for a peer.", "\(heldMessages)")
    figure("rtcast_hub_held_bytes", "gauge", "Bytes of the messages that wait for a peer.", "\(heldBytes)")
    figure("rtcast_hub_connections_opened_total", "counter", "Connections made.", "\(connectionsOpened)")
    figure("rtcast_hub_registrations_total", "counter", "Names given.", "\(registrations)")
    figure("rtcast_hub_resumptions_total", "counter", "Names whose owner came back.", "\(resumptions)")
    figure("rtcast_hub_messages_received_total", "counter", "Messages from clients.", "\(messagesReceived)")
    figure("rtcast_hub_messages_relayed_total", "counter", "Messages handed from one to another.", "\(messagesRelayed)")
    text += "# HELP rtcast_hub_faults_total Messages and connections refused.\n# TYPE rtcast_hub_faults_total counter\n"
    for (code, count) in faults.sorted(by: { $0.key < $1.key }) {
      text += "rtcast_hub_faults_total{code=\"\(code)\"} \(count)\n"
    }
    return text
  }

  /// The figures of `/health`, as one JSON object.
  public var json: String {
    JSONValue.object([
      ("connections", .count(connections)), ("peers", .count(peers)), ("rooms", .count(rooms)),
    ]).text
  }
}
