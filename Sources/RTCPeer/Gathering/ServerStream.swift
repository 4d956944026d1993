import RTCDTLS
import RTCNet
import RTCPrimitives

/// A TCP connection to a TURN server, by TLS and through a proxy where that is wanted, that carries STUN messages and ChannelData
/// (RFC 8656 §2.1). Lives on the loop's thread.
final class ServerStream: DatagramStream, TCPConnectionDelegate {
  /// Receives the events of a stream, on the loop's thread.
  protocol Delegate: AnyObject {
    /// Messages may be sent from now on.
    func opened(_ stream: ServerStream, now: Timestamp)
    /// A message has come, which may be changed in place and is gone after the call.
    func received(_ message: inout MutableSpan<UInt8>, from stream: ServerStream, now: Timestamp)
    /// The last call.
    /// - Parameter reason: a sentence for people.
    func ended(_ stream: ServerStream, _ reason: String, now: Timestamp)
  }

  /// The parameters of a stream.
  struct Target {
    /// The address of the server, or of the proxy.
    var address: SocketAddress
    /// The server's own name and port.
    var host: String
    var port: UInt16
    var proxy: HTTPProxy?
    /// Nil: in the clear.
    var tls: TLSContext?
  }

  private enum Phase {
    case connecting
    case tunnelling(HTTPTunnel)
    case securing
    case open
    case closed
  }

  let number: UInt16
  let target: Target
  private var connection: TCPConnection?
  private var tls: TLSSession?
  private var phase = Phase.connecting
  private var deframer = StreamDeframer(.turn)
  private unowned let delegate: any Delegate
  /// Messages are put together here; kept for its memory.
  private var frame: [UInt8] = []

  /// Begins to connect.
  /// - Parameter number: of the route's kind, `.stream`.
  init(
    _ number: UInt16, to target: Target, on loop: EventLoop, delegate: any Delegate
  ) throws(SystemError) {
    (self.number, self.target, self.delegate) = (number, target, delegate)
    connection = try TCPConnection(to: target.address, on: loop, delegate: self)
  }

  /// The way to the server.
  var route: Route {
    let unspecified = SocketAddress(ip: target.address.ip.isV4 ? .v4(0) : .v6(high: 0, low: 0, scope: 0), port: 0)
    return Route(local: connection?.local ?? unspecified, remote: target.address, kind: .stream(number))
  }

  /// The address on this machine; nil before there is a connection.
  var local: SocketAddress? { connection?.local }

  func send(_ message: Span<UInt8>) {
    guard case .open = phase, let connection else { return }
    var frame = self.frame
    self.frame = []
    defer { self.frame = frame }
    frame.removeAll(keepingCapacity: true)
    StreamFraming.turn.append(message, to: &frame)
    guard let tls else {
      _ = connection.send(frame.span)
      return
    }
    // A record that was made must be sent, else the remote end cannot read those behind it.
    guard connection.queuedBytes + frame.count + 512 <= TCPConnection.defaultQueueLimit else { return }
    tls.send(frame.span)
    let records = tls.takeOutput()
    _ = connection.send(records.span)
  }

  /// Ends without telling.
  func close() {
    if let tls, case .open = phase {
      tls.close()
      let goodbye = tls.takeOutput()
      _ = connection?.send(goodbye.span)
    }
    phase = .closed
    connection?.close()
    connection = nil
  }

  private func fail(_ reason: String, _ now: Timestamp) {
    if case .closed = phase { return }
    close()
    delegate.ended(self, reason, now: now)
  }

  // MARK: - TCPConnectionDelegate

  func connected(_ connection: TCPConnection, now: Timestamp) {
    guard let proxy = target.proxy else { return secure(now) }
    let tunnel = HTTPTunnel(to: target.host, port: target.port, credentials: proxy.credentials)
    phase = .tunnelling(tunnel)
    _ = connection.send(tunnel.request.span)
  }

  func received(_ bytes: Span<UInt8>, from connection: TCPConnection, now: Timestamp) {
    switch phase {
    case .connecting, .closed: break
    case .tunnelling(var tunnel):
      switch tunnel.receive(bytes) {
      case .waiting: phase = .tunnelling(tunnel)
      case .refused(let reason): fail("The proxy \(target.address) makes no connection. \(reason)", now)
      case .open(let rest):
        secure(now)
        if !rest.isEmpty { received(rest.span, from: connection, now: now) }
      }
    case .securing, .open:
      if let tls { handle(tls.receive(bytes), now) } else { deframe(bytes, now) }
    }
  }

  func ended(_ connection: TCPConnection, _ error: SystemError?, now: Timestamp) {
    fail(error?.description ?? "It closed the connection.", now)
  }

  // MARK: - TLS

  private func secure(_ now: Timestamp) {
    guard let context = target.tls else { return open(now) }
    phase = .securing
    do throws(TLSConfigurationError) {
      let host = IPAddress(target.host) == nil ? TLSHost.name(target.host) : .address(target.host)
      let session = try TLSSession(context, to: host)
      tls = session
      handle(session.start(), now)
    } catch {
      fail("TLS cannot be set up: \(error).", now)
    }
  }

  private func handle(_ events: [TLSEvent], _ now: Timestamp) {
    if let output = tls?.takeOutput(), !output.isEmpty { _ = connection?.send(output.span) }
    for event in events {
      switch event {
      case .connected: open(now)
      case .data(let bytes): deframe(bytes.span, now)
      case .closedByPeer: fail("It closed the connection.", now)
      case .failed(let failure): fail(failure.sentence, now)
      }
    }
  }

  private func open(_ now: Timestamp) {
    phase = .open
    delegate.opened(self, now: now)
  }

  private func deframe(_ bytes: Span<UInt8>, _ now: Timestamp) {
    guard case .open = phase else { return }
    do throws(StreamFramingError) {
      try deframer.receive(bytes) { delegate.received(&$0, from: self, now: now) }
    } catch {
      fail("It does not speak TURN there.", now)
    }
  }
}

extension TLSFailure {
  /// Why there is no connection, for people.
  fileprivate var sentence: String {
    switch self {
    case .certificate(.untrusted):
      "This machine does not trust the server's certificate; to trust it, name its PEM file in SSL_CERT_FILE."
    case .certificate(.wrongHost): "The server's certificate is for another host."
    case .certificate(.expired): "The server's certificate has expired."
    case .certificate(let fault): "The server's certificate cannot be used: \(fault)."
    case .notTLS: "It does not speak TLS there."
    case .alert(let number): "It refuses the TLS connection (alert \(number))."
    case .endedInHandshake, .truncated: "It closed the connection."
    case .protocolViolation(let error): "TLS failed: \(error)."
    }
  }
}
