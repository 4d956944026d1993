import NIOCore
import NIOHTTP1
import NIOWebSocket
import RTCSignaling

/// How a request at one of the hub's paths becomes a WebSocket connection to the hub. Everything else, refusals included,
/// is left to the `ClientConnection`.
enum HubUpgrade {
  static func configuration(
    _ registry: ConnectionRegistry, _ notice: ArrivalNotice, _ client: ClientConnection
  ) -> NIOHTTPServerUpgradeConfiguration? {
    guard let host = registry.hub else { return nil }
    let loop = host.eventLoop
    let boundRegistry = NIOLoopBound(registry, eventLoop: loop)
    let boundClient = NIOLoopBound(client, eventLoop: loop)
    let boundNotice = NIOLoopBound(notice, eventLoop: loop)
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: host.limits.messageBytes, automaticErrorHandling: false,
      shouldUpgrade: { channel, head in
        let client = boundClient.value
        let peer = client.address(of: channel)
        guard boundRegistry.value.isOpen, boundRegistry.value.client(of: peer, head) != nil,
          case .hub = boundRegistry.value.evaluate(boundRegistry.value.head(head, from: peer), from: "")
        else {
          return channel.eventLoop.makeSucceededFuture(nil)
        }
        return channel.eventLoop.makeSucceededFuture(HTTPHeaders())
      },
      upgradePipelineHandler: { channel, head in
        channel.eventLoop.makeCompletedFuture {
          let peer = boundClient.value.address(of: channel)
          guard let host = boundRegistry.value.hub, let address = boundRegistry.value.client(of: peer, head),
            case .hub(let dialect, let query) = boundRegistry.value.evaluate(
              boundRegistry.value.head(head, from: peer), from: "")
          else { return }
          boundClient.value.handOver()
          let pipeline = channel.pipeline.syncOperations
          _ = pipeline.removeHandler(boundNotice.value)
          _ = pipeline.removeHandler(boundClient.value)
          try pipeline.addHandler(
            WebSocketConnection(
              .server, messageBytes: host.limits.messageBytes,
              owner: HubConnection(
                host: host, dialect: dialect, query: query, from: address)))
        }
      })
    return (upgraders: [upgrader], completionHandler: { _ in })
  }
}
