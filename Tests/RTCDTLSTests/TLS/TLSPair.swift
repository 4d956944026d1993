import Glibc
import RTCDTLS
import Testing

/// A client and a server whose records travel in memory, in pieces of any size.
final class TLSPair {
  let client: TLSSession
  let server: TLSSession
  /// The events of each side's steps.
  private(set) var clientEvents: [TLSEvent] = []
  private(set) var serverEvents: [TLSEvent] = []

  init(client: TLSSession, server: TLSSession) {
    self.client = client
    self.server = server
  }

  /// - Parameters:
  ///   - chain: what the server shows.
  ///   - roots: what the client trusts.
  static func make(
    chain: [String] = [TLSFixtures.good, TLSFixtures.intermediate], key: String = TLSFixtures.privateKey,
    roots: [String] = [TLSFixtures.root], host: TLSHost = .name("good.example"), verifier: (([UInt8]) -> Bool)? = nil
  ) throws -> TLSPair {
    let client = try withFile(roots.joined(separator: "\n")) { try TLSContext(trusting: .file($0)) }
    return TLSPair(
      client: try TLSSession(client, to: host, verifier: verifier),
      server: try TLSSession(try server(chain: chain, key: key))
    )
  }

  static func server(chain: [String], key: String = TLSFixtures.privateKey) throws -> TLSContext {
    try TLSContext(certificates: Array(chain.joined(separator: "\n").utf8), privateKey: Array(key.utf8))
  }

  /// Lets both ends talk until they have nothing more to say.
  /// - Parameter pieceSize: bytes that arrive together.
  func run(pieceSize: Int = .max) {
    clientEvents += client.start()
    while true {
      let up = client.takeOutput()
      Self.deliver(up, to: server, pieceSize, &serverEvents)
      let down = server.takeOutput()
      Self.deliver(down, to: client, pieceSize, &clientEvents)
      if up.isEmpty, down.isEmpty { return }
    }
  }

  private static func deliver(_ bytes: [UInt8], to end: TLSSession, _ pieceSize: Int, _ events: inout [TLSEvent]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieceSize))
      rest = rest.dropFirst(piece.count)
      events += end.receive(piece.span)
    }
  }

  static func withFile<R>(_ text: String, _ body: (String) throws -> R) throws -> R {
    var path = Array("/tmp/rtcast-test-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    try #require(file >= 0)
    let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(name) }
    let count = write(file, text, text.utf8.count)
    close(file)
    try #require(count == text.utf8.count)
    return try body(name)
  }
}

extension [TLSEvent] {
  /// All application data.
  var data: [UInt8] {
    reduce(into: []) { if case .data(let bytes) = $1 { $0 += bytes } }
  }

  var failure: TLSFailure? {
    for case .failed(let failure) in self { return failure }
    return nil
  }
}
