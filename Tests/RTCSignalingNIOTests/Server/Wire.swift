import Logging
import NIOCore
import NIOPosix
import RTCDTLS
import RTCSignaling
import RTCSignalingNIO
import Testing

/// A TCP connection on which a test says exactly what it wants, well-formed or not.
struct Wire {
  let channel: any Channel
  private var incoming: AsyncStream<ByteBuffer>.Iterator
  private var held = ByteBuffer()

  /// - Parameter isSecure: by TLS, trusting whatever is shown.
  init(to address: ListenAddress, isSecure: Bool = false) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
    channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if isSecure {
            let session = try TLSSession(
              try TLSContext(trusting: .system), to: .address("127.0.0.1"), verifier: { _ in true })
            try channel.pipeline.syncOperations.addHandler(TLSHandler(session))
          }
          try channel.pipeline.syncOperations.addHandler(Collector(continuation))
        }
      }
      .connect(host: address.host.text, port: Int(address.port)).get()
    incoming = stream.makeAsyncIterator()
  }

  func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

  func close() async throws { try await channel.close() }

  /// The next whole answer; nil if the connection ends first.
  mutating func answer(toHead: Bool = false) async -> Answer? {
    while true {
      if let answer = Answer(reading: &held, toHead: toHead) { return answer }
      guard var more = await incoming.next() else { return nil }
      held.writeBuffer(&more)
    }
  }

  /// One WebSocket text frame as clients send it, masked.
  func sendFrame(_ text: String) async throws {
    var buffer = ByteBuffer()
    buffer.writeInteger(UInt8(0x81))
    let count = text.utf8.count
    if count < 126 {
      buffer.writeInteger(UInt8(0x80 | count))
    } else {
      buffer.writeInteger(UInt8(0x80 | 126))
      buffer.writeInteger(UInt16(count))
    }
    buffer.writeInteger(UInt32(0))
    buffer.writeString(text)
    try await channel.writeAndFlush(buffer)
  }

  /// Says goodbye as a browser does whose page is closed: 1001.
  func sendClose() async throws {
    try await channel.writeAndFlush(ByteBuffer(bytes: [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE9]))
  }

  struct Frame {
    var opcode: UInt8
    var payload: [UInt8]
    var text: String { String(decoding: payload, as: UTF8.self) }
  }

  /// The next WebSocket frame; nil if the connection ends first.
  mutating func frame() async -> Frame? {
    while true {
      if let frame = takeFrame() { return frame }
      guard var more = await incoming.next() else { return nil }
      held.writeBuffer(&more)
    }
  }

  private mutating func takeFrame() -> Frame? {
    let bytes = Array(held.readableBytesView)
    guard bytes.count >= 2 else { return nil }
    var start = 2
    var count = Int(bytes[1])
    if count == 126 {
      guard bytes.count >= 4 else { return nil }
      start = 4
      count = Int(bytes[2]) << 8 | Int(bytes[3])
    }
    guard bytes.count >= start + count else { return nil }
    held.moveReaderIndex(forwardBy: start + count)
    return Frame(opcode: bytes[0] & 15, payload: Array(bytes[start..<start + count]))
  }

  /// Awaits the end of the connection; true if nothing more came before it.
  mutating func endsQuietly() async -> Bool {
    var isQuiet = held.readableBytes == 0
    while await incoming.next() != nil { isQuiet = false }
    return isQuiet
  }

  struct Answer {
    var status: Int
    var headers: [(String, String)]
    var body: String

    init?(reading buffer: inout ByteBuffer, toHead: Bool) {
      let text = String(buffer: buffer)
      guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
      let lines = text[..<end.lowerBound].split(separator: "\r\n")
      guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
      self.status = status
      headers = lines.dropFirst().map { line in
        let name = line.prefix { $0 != ":" }
        return (name.lowercased(), String(line.dropFirst(name.count + 2)))
      }
      let length = headers.first { $0.0 == "content-length" }.flatMap { Int($0.1) } ?? 0
      let bodyBytes = toHead ? 0 : length
      let rest = text[end.upperBound...].utf8
      guard rest.count >= bodyBytes else { return nil }
      body = String(decoding: rest.prefix(bodyBytes), as: UTF8.self)
      buffer.moveReaderIndex(forwardBy: text[..<end.upperBound].utf8.count + bodyBytes)
    }

    subscript(_ name: String) -> String? { headers.first { $0.0 == name }?.1 }
  }

  private final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let continuation: AsyncStream<ByteBuffer>.Continuation

    init(_ continuation: AsyncStream<ByteBuffer>.Continuation) { self.continuation = continuation }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { continuation.yield(unwrapInboundIn(data)) }
    func channelInactive(context: ChannelHandlerContext) { continuation.finish() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}

/// A running server with canned sessions behind it.
struct Bench {
  let server: SignalingServer
  let sessions: CannedSessions

  /// Runs a test against a server, which is shut down whatever happens.
  static func run(
    _ configuration: SignalingServerConfiguration = SignalingServerConfiguration(gate: .open()),
    _ body: (Bench) async throws -> Void
  ) async throws {
    let sessions = CannedSessions()
    let server = try await SignalingServer.start(configuration, sessions: sessions, logger: Logger(label: "test"))
    do {
      try await body(Bench(server: server, sessions: sessions))
    } catch {
      sessions.release()
      await server.shutdown()
      throw error
    }
    sessions.release()
    await server.shutdown()
  }

  /// Runs a server with limits other than the defaults.
  static func run(
    limits change: (inout ServerLimits) -> Void, _ body: (Bench) async throws -> Void
  ) async throws {
    var limits = ServerLimits()
    change(&limits)
    try await run(SignalingServerConfiguration(gate: .open(), limits: limits), body)
  }

  func wire() async throws -> Wire { try await Wire(to: server.address) }

  /// One request on a connection of its own.
  func ask(
    _ method: String, _ path: String, headers: [String] = [], body: String = "", toHead: Bool = false
  ) async throws -> Wire.Answer {
    var wire = try await wire()
    try await wire.send(request(method, path, headers: headers + ["Connection: close"], body: body))
    let answer = await wire.answer(toHead: toHead)
    try? await wire.close()
    return try #require(answer)
  }

  func post(_ offer: String, to path: String = "/whep", headers: [String] = []) async throws -> Wire.Answer {
    try await ask("POST", path, headers: ["Content-Type: application/sdp"] + headers, body: offer)
  }
}

func request(_ method: String, _ path: String, headers: [String] = [], body: String = "") -> String {
  let length = body.isEmpty && method != "POST" ? [] : ["Content-Length: \(body.utf8.count)"]
  let lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1"] + headers + length
  return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
}
