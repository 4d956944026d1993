import RTCICE
import RTCNet
import RTCPrimitives

/// The TCP port on which remote peers reach a loop whose UDP they cannot (RFC 6544, passive candidates), and the connections
/// that they have made. Lives on the loop's thread.
final class PeerStreams {
  private unowned let table: PeerTable
  private var listeners: [TCPListener] = []
  private var streams: [UInt16: PeerStream] = [:]
  /// Names the listeners in candidates, until a connection is there.
  private let carrier: Route.Kind
  /// The time to look for unused connections.
  private(set) var nextDeadline = Timestamp.distantFuture

  /// Connections that no peer knows yet: in all, and from one address.
  private static let maximumUnknown = 64
  private static let maximumUnknownOfAddress = 8
  private static let maximumStreams = 4_096
  /// The time that a connection may stay open before a peer knows it.
  private static let patience = TimeDelta.seconds(10)
  /// The time without data after which a connection is closed: consent checks arrive every few seconds (RFC 7675).
  private static let idleTime = TimeDelta.seconds(60)

  /// - Parameter port: taken where it is free, else any other.
  /// - Throws: `SystemError` when no port may be had.
  init(_ table: PeerTable, port: UInt16, hasIPv4: Bool, hasIPv6: Bool) throws(SystemError) {
    self.table = table
    carrier = .stream(table.streams.reserve() ?? 0)
    do throws(SystemError) {
      try listen(port, hasIPv4, hasIPv6)
    } catch {
      for listener in listeners { listener.close() }
      listeners = []
      try listen(0, hasIPv4, hasIPv6)
    }
  }

  private func listen(_ port: UInt16, _ hasIPv4: Bool, _ hasIPv6: Bool) throws(SystemError) {
    var port = port
    for ip in [hasIPv4 ? IPAddress.v4(0) : nil, hasIPv6 ? .v6(high: 0, low: 0, scope: 0) : nil] {
      guard let ip else { continue }
      let listener = try TCPListener(SocketAddress(ip: ip, port: port), on: table.loop) { [unowned self] in
        accept($0, $1)
      }
      listeners.append(listener)
      port = listener.local.port
    }
  }

  /// The TCP port; nil: none is open.
  var port: UInt16? { listeners.first?.local.port }

  /// One candidate for each address of `hosts`, all less wanted than any over UDP but relays (RFC 6544 §4.2).
  func candidates(beside hosts: [ICECandidate]) -> [ICECandidate] {
    guard let port else { return [] }
    return hosts.enumerated().map { rank, host in
      // The type preference is libwebrtc's; 4 of 7 is the passive direction's.
      let localPreference = UInt32(4 << 13 + max(0, 8_191 - rank))
      return ICECandidate(
        address: SocketAddress(ip: host.address.ip, port: port), priority: 90 << 24 | localPreference << 8 | 255,
        kind: .host, foundation: "t\(host.foundation)", carrier: carrier, tcpType: .passive)
    }
  }

  // MARK: - Connections

  private func accept(_ connection: TCPConnection, _ now: Timestamp) {
    let unknown = streams.values.filter { !table.knows($0.route) }
    guard streams.count < Self.maximumStreams, unknown.count < Self.maximumUnknown,
      unknown.count(where: { $0.route.remote.ip == connection.remote.ip }) < Self.maximumUnknownOfAddress,
      let local = connection.local, table.admits(local.ip), let number = table.streams.reserve()
    else { return connection.close() }
    let stream = PeerStream(number, connection, local: local, owner: self, now: now)
    streams[number] = stream
    table.streams.insert(stream, number)
    nextDeadline = min(nextDeadline, now + Self.patience)
  }

  func received(_ message: inout MutableSpan<UInt8>, from stream: PeerStream, now: Timestamp) {
    table.datagram(&message, route: stream.route, now: now)
  }

  func ended(_ stream: PeerStream, _ now: Timestamp) {
    close(stream.route.kind)
    table.refused(stream.route, now)
  }

  /// The peer that used it has ended.
  func close(_ kind: Route.Kind) {
    guard case .stream(let number) = kind, let stream = streams.removeValue(forKey: number) else { return }
    stream.close()
    table.streams.remove(number)
  }

  /// Ends connections that no peer knows after their time, and those by which nothing comes any more.
  func deadlineReached(_ now: Timestamp) {
    nextDeadline = .distantFuture
    for stream in streams.values {
      let end = stream.heardAt + (table.knows(stream.route) ? Self.idleTime : Self.patience)
      if end <= now { ended(stream, now) } else { nextDeadline = min(nextDeadline, end) }
    }
  }

  func close() {
    for listener in listeners { listener.close() }
    for stream in streams.values { stream.close() }
    (listeners, streams) = ([], [:])
  }
}
