import Glibc
import ProcessKit
import RTCCluster
import Testing

/// A real Redis on a socket of its own, in which the scripts run with a clock that the test moves.
final class ScriptServer {
  private let process: TestProcess
  let path: String
  static let prefix = "{t}"
  /// The scripts, with the clock of the test.
  static let scripts: [ClusterScript: String] = Dictionary(
    uniqueKeysWithValues: ClusterScript.allCases.map {
      ($0, $0.text(clock: "return tonumber(redis.call('GET', 'clock'))"))
    })

  init() throws {
    path = "/tmp/rtcast-redis-\(getpid())-\(UInt32.random(in: 0 ... .max)).sock"
    process = try TestProcess([
      "redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--daemonize", "no",
    ])
    try #require(process.says("eady to accept connections"), "redis-server does not start: \(process.output)")
  }

  deinit {
    process.end()
    unlink(path)
  }

  /// Whether there is a Redis on this machine.
  static let isThere = (try? TestProcess.shell("command -v redis-server")) != nil
}

/// A connection whose calls wait for their replies.
final class ScriptClient {
  private let socket: Int32
  private var reader = RESPReader()
  /// Messages of channels, in their order.
  private(set) var pushes: [(channel: String, text: [UInt8])] = []

  init(_ server: ScriptServer) throws {
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: server.path.utf8) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
    try call("HELLO", "3")
  }

  deinit { close(socket) }

  @discardableResult
  func call(_ words: String...) throws -> RESPValue { try call(words) }

  /// Messages of channels that came before the reply are in `pushes` afterwards.
  @discardableResult
  func call(_ words: [String]) throws -> RESPValue {
    var bytes: [UInt8] = []
    RESPCommand.append(words, to: &bytes)
    try #require(send(socket, bytes, bytes.count, 0) == bytes.count)
    while true {
      let value = try next()
      guard case .push(let parts) = value else { return value }
      try note(parts)
    }
  }

  func subscribe(_ channels: [String]) throws {
    var bytes: [UInt8] = []
    RESPCommand.append(["SUBSCRIBE"] + channels, to: &bytes)
    try #require(send(socket, bytes, bytes.count, 0) == bytes.count)
    for _ in channels { _ = try next() }
  }

  func takePushes() -> [(channel: String, text: [UInt8])] {
    defer { pushes = [] }
    return pushes
  }

  private func note(_ parts: [RESPValue]) throws {
    guard parts.count == 3, parts[0].string == "message", let channel = parts[1].string, case .text(let text) = parts[2]
    else { return }
    pushes.append((channel, text))
  }

  private func next() throws -> RESPValue {
    while true {
      if let value = try reader.read() { return value }
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = recv(socket, &bytes, bytes.count, 0)
      try #require(count > 0)
      reader.append(bytes.prefix(count))
    }
  }
}
