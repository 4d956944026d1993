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
    let registry = NIOLoopBound(registry, eventLoop: loop)
    let client = NIOLoopBound(client, eventLoop: loop)
    let notice = NIOLoopBound(notice, eventLoop: loop)
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: host.limits.messageBytes, automaticErrorHandling: false,
      shouldUpgrade: { channel, head in
        guard registry.value.isOpen, case .hub = registry.value.desk.judge(RequestHead(head)) else {
          return channel.eventLoop.makeSucceededFuture(nil)
        }
        return channel.eventLoop.makeSucceededFuture(HTTPHeaders())
      },
      upgradePipelineHandler: { channel, head in
        channel.eventLoop.makeCompletedFuture {
          guard let host = registry.value.hub,
            case .hub(let dialect, let query) = registry.value.desk.judge(RequestHead(head))
          else { return }
          client.value.handOver()
          let pipeline = channel.pipeline.syncOperations
          _ = pipeline.removeHandler(notice.value)
          _ = pipeline.removeHandler(client.value)
          try pipeline.addHandler(
            NIOWebSocketFrameAggregator(
              minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 1024,
              maxAccumulatedFrameSize: host.limits.messageBytes))
          try pipeline.addHandler(HubConnection(host: host, dialect: dialect, query: query))
        }
      })
    return (upgraders: [upgrader], completionHandler: { _ in })
  }
}
