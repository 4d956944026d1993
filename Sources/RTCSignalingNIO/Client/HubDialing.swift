package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import RTCDTLS
package import RTCSignaling

/// How a client's connection to the hub comes to be: TCP, TLS where wanted, and the WebSocket handshake.
package enum HubDialing {
  /// The server answered, but not with WebSocket.
  struct NoUpgrade: Error {
    var status: Int
  }

  /// The future is the loop's.
  /// - Parameter makeOwner: makes the owner of the connection, when the handshake is done.
  package static func connect<Owner: WebSocketOwner>(
    to address: HubAddress, _ configuration: HubClient.Configuration, on eventLoop: any EventLoop,
    _ makeOwner: @escaping @Sendable (any EventLoop) -> Owner
  ) -> EventLoopFuture<NIOLoopBound<Owner>> {
    let tls: TLSContext?
    do { tls = try address.isSecure ? .client(trusting: configuration.trustRootsFile) : nil } catch {
      return eventLoop.makeFailedFuture(error)
    }
    let promise = eventLoop.makePromise(of: NIOLoopBound<Owner>.self)
    ClientBootstrap(group: eventLoop)
      .connectTimeout(.nanoseconds(configuration.session.timeout.nanoseconds))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls {
            let session = try TLSSession(tls, to: TLSHost(address.web.host), verifier: configuration.trustsCertificate)
            try channel.pipeline.syncOperations.addHandler(TLSHandler(session))
          }
          try addHandshake(channel, address, configuration, promise, makeOwner)
        }
      }
      .connect(host: address.web.host.text, port: Int(address.port))
      .whenComplete { result in
        switch result {
        case .failure(let error): promise.fail(error)
        case .success(let channel):
          // A server that does not answer must not keep the attempt for ever; nor one that closes without an answer.
          channel.closeFuture.whenComplete { _ in promise.fail(ChannelError.eof) }
          channel.eventLoop.scheduleTask(in: .nanoseconds(configuration.session.timeout.nanoseconds)) {
            promise.fail(ChannelError.connectTimeout(.nanoseconds(configuration.session.timeout.nanoseconds)))
          }
          promise.futureResult.whenFailure { _ in channel.close(promise: nil) }
        }
      }
    return promise.futureResult
  }

  static func explain(
    _ error: any Error, at address: HubAddress, _ configuration: HubClient.Configuration
  ) -> HubClientError {
    let seconds = max(1, configuration.session.timeout.milliseconds / 1000)
    if let refusal = error as? NoUpgrade { return .notAHub(address, status: refusal.status) }
    if error is NIOHTTPClientUpgradeError { return .notAHub(address, status: 101) }
    var client = WHIPClient.Configuration()
    client.timeout = seconds
    switch ClientFailure.explain(error, at: address.web, client) {
    case .unknownHost(let host): return .unknownHost(host)
    case .refused: return .refusedConnection(address)
    case .unreachable(_, let reason): return .unreachable(address, reason: reason)
    case .timeout: return .timeout(address, seconds: seconds)
    case .tls(_, let reason): return .tls(address, reason: reason)
    case .brokenAnswer where [.eof, .inappropriateOperationForState].contains(error as? ChannelError):
      return .connectionLost(reason: "the server closed it without an answer")
    case .brokenAnswer(let what): return .connectionLost(reason: what)
    case let other: return .connectionLost(reason: other.description)
    }
  }

  // MARK: - Layers

  private static func addHandshake<Owner: WebSocketOwner>(
    _ channel: any Channel, _ address: HubAddress, _ configuration: HubClient.Configuration,
    _ promise: EventLoopPromise<NIOLoopBound<Owner>>, _ makeOwner: @escaping @Sendable (any EventLoop) -> Owner
  ) throws {
    let upgrader = NIOTypedWebSocketClientUpgrader<NIOLoopBound<Owner>>(
      maxFrameSize: configuration.messageBytes, enableAutomaticErrorHandling: false
    ) { channel, _ in
      channel.eventLoop.makeCompletedFuture {
        let owner = makeOwner(channel.eventLoop)
        try channel.pipeline.syncOperations.addHandler(
          WebSocketConnection(.client, messageBytes: configuration.messageBytes, owner: owner))
        return NIOLoopBound(owner, eventLoop: channel.eventLoop)
      }
    }
    let port = address.web.port.map { ":\($0)" } ?? ""
    try channel.pipeline.syncOperations.addHandler(
      WebSocketHandshake(target: address.web.target, host: address.web.host.inURL + port, upgrader, promise))
  }
}
