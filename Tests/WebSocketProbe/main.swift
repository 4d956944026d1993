// WebSocketProbe server|client URL — the hub's WebSocket, and that of its client, for scripts/autobahn: what comes is sent back.
//   server       listens on a free port of loopback, says which, and ends with its standard input
//   client URL   is sent through all cases of an Autobahn fuzzing server
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import RTCSignaling
import RTCSignalingNIO

/// The largest message of the suite has 16 MiB.
let messageBytes = 1 << 24

/// Not print: what it writes to a pipe waits for more.
func say(_ line: String, to descriptor: Int32) {
  _ = Array("\(line)\n".utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
}

func serve() throws {
  let listener = try ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
    .childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let upgrader = NIOWebSocketServerUpgrader(
          maxFrameSize: messageBytes, automaticErrorHandling: false,
          shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
          upgradePipelineHandler: { channel, _ in
            channel.eventLoop.makeCompletedFuture {
              try channel.pipeline.syncOperations.addHandler(
                WebSocketConnection(.server, messageBytes: messageBytes, owner: Echo(eventLoop: channel.eventLoop)))
            }
          })
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
          withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
      }
    }
    .bind(host: "127.0.0.1", port: 0).wait()
  say("\(listener.localAddress?.port ?? 0)", to: STDOUT_FILENO)
  while readLine() != nil {}
}

/// The last text of a connection to that path.
func visit(_ address: String) throws -> String {
  guard let hub = HubAddress(address) else { fatalError("\(address) is no address") }
  var configuration = HubClient.Configuration()
  configuration.messageBytes = messageBytes
  let loop = MultiThreadedEventLoopGroup.singleton.next()
  return try HubDialing.connect(to: hub, configuration, on: loop) { Echo(eventLoop: $0) }
    .flatMap { $0.value.whenGone }.wait()
}

func run(at url: String) throws {
  let said = try visit("\(url)/getCaseCount")
  guard let count = Int(said) else { fatalError("\(url) does not say how many cases it has, but '\(said)'") }
  for number in 1...count { _ = try visit("\(url)/runCase?case=\(number)&agent=rtcast") }
  // The fuzzing server may end before it answers this.
  _ = try? visit("\(url)/updateReports?agent=rtcast")
}

switch CommandLine.arguments.dropFirst() {
case ["server"]: try serve()
case let arguments where arguments.first == "client" && arguments.count == 2: try run(at: CommandLine.arguments[2])
default:
  say("usage: WebSocketProbe server|client URL", to: STDERR_FILENO)
  exit(64)
}
