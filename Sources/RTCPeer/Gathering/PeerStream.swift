import RTCNet
import RTCPrimitives

/// A TCP connection that a remote peer has made to us (RFC 6544): STUN, DTLS and SRTP in frames of RFC 4571. Lives on the loop's
/// thread.
final class PeerStream: DatagramStream, TCPConnectionDelegate {
  private let connection: TCPConnection
  private unowned let owner: PeerStreams
  private var deframer = StreamDeframer(.lengthPrefixed)
  private var frame: [UInt8] = []
  /// How its datagrams come and go.
  let route: Route
  /// When a message came last; at first, when the connection was made.
  private(set) var heardAt: Timestamp

  init(_ number: UInt16, _ connection: TCPConnection, local: SocketAddress, owner: PeerStreams, now: Timestamp) {
    self.connection = connection
    self.owner = owner
    route = Route(local: local, remote: connection.remote, kind: .stream(number))
    heardAt = now
    connection.setDelegate(self)
  }

  func send(_ message: Span<UInt8>) {
    var frame = self.frame
    self.frame = []
    defer { self.frame = frame }
    frame.removeAll(keepingCapacity: true)
    StreamFraming.lengthPrefixed.append(message, to: &frame)
    _ = connection.send(frame.span)
  }

  func close() { connection.close() }

  // MARK: - TCPConnectionDelegate

  func connected(_ connection: TCPConnection, now: Timestamp) {}

  func received(_ bytes: Span<UInt8>, from connection: TCPConnection, now: Timestamp) {
    heardAt = now
    do throws(StreamFramingError) {
      try deframer.receive(bytes) { owner.received(&$0, from: self, now: now) }
    } catch {
      owner.ended(self, now)
    }
  }

  func ended(_ connection: TCPConnection, _ error: SystemError?, now: Timestamp) { owner.ended(self, now) }
}
