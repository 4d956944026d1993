import Foundation
import Glibc
import RTCNet
import Testing
import rtcast_cli

@Suite(.timeLimit(.minutes(1))) struct ControlSocketTests {
  /// A client that waits for its answers.
  private final class Client {
    let descriptor: Int32

    init(_ path: ControlPath) throws {
      descriptor = try #require(try UnixSocket(path: path.path).connect())
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
      let bytes = Array(text.utf8)
      #expect(
        bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } == bytes.count)
    }

    func line() -> String {
      var bytes: [UInt8] = []
      var byte: UInt8 = 0
      while recv(descriptor, &byte, 1, 0) == 1, byte != 0x0A { bytes.append(byte) }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  private static func path() throws -> ControlPath {
    try ControlPath(parsing: "/tmp/rtcast-\(getpid())-\(UInt64.random(in: 0 ... .max)).sock", option: "")
  }

  private static func mode(_ path: ControlPath) -> mode_t? {
    var status = stat()
    return lstat(path.path, &status) == 0 ? status.st_mode & 0o777 : nil
  }

  @Test func `each client gets its own answers in its order, whoever is answered first`() async throws {
    let path = try Self.path()
    let socket = try ControlSocket(at: path)
    #expect(Self.mode(path) == 0o600)
    let (requests, feed) = AsyncStream.makeStream(of: ControlRequest.self)
    try socket.start { feed.yield($0) }
    let (one, other) = (try Client(path), try Client(path))
    one.send("{\"command\": \"fps\", \"value\": 1}\n{\"command\": \"fps\"")
    other.send("nonsense\n{\"command\": \"pause\"}\n")
    one.send(", \"value\": 2}\n")
    var waiting: [ControlRequest] = []
    for await request in requests {
      waiting.append(request)
      if waiting.count == 4 { break }
    }
    // The requests of one client arrive and are answered in order. Requests of different clients have no order.
    let ofOne = waiting.filter { if case .success(.frameRate) = $0.command { true } else { false } }
    #expect(ofOne.map(\.command) == [.success(.frameRate(1)), .success(.frameRate(2))])
    let ofOther = waiting.filter { if case .success(.frameRate) = $0.command { false } else { true } }
    for request in ofOther + ofOne { request.answer(ControlReply(request.command)) }
    #expect(one.line().contains("\"fps\"") && one.line().contains("\"fps\""))
    #expect(other.line().contains("must be one JSON object") && other.line().contains("\"pause\""))
    socket.close()
    #expect(one.line().isEmpty && Self.mode(path) == nil, "the end, and the path is gone")
  }

  @Test func `a dead socket is replaced, a live one and other files are not`() throws {
    let path = try Self.path()
    let dead = try UnixSocket(path: path.path).listen()
    close(dead)
    let socket = try ControlSocket(at: path)
    #expect(throws: CastFailure.self) { try ControlSocket(at: path) }
    socket.close()
    let file = try Self.path()
    close(open(file.path, O_CREAT | O_WRONLY, 0o600))
    #expect(throws: CastFailure.self) { try ControlSocket(at: file) }
    #expect(Self.mode(file) == 0o600)
    unlink(file.path)
  }

  @Test func `of programs that start in the same instant on a dead socket, exactly one gets the path`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rtcast-race-\(getpid())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = try ControlPath(parsing: folder + "/talk.sock", option: "")
    for _ in 0..<40 {
      close(try UnixSocket(path: path.path).listen())
      let sockets = await withTaskGroup(of: ControlSocket?.self) { group in
        for _ in 0..<4 { group.addTask { try? ControlSocket(at: path) } }
        return await group.reduce(into: [ControlSocket]()) { all, socket in if let socket { all.append(socket) } }
      }
      try #require(sockets.count == 1)
      try sockets[0].start { $0.answer(ControlReply($0.command)) }
      let client = try Client(path)
      client.send("{\"command\": \"pause\"}\n")
      #expect(client.line().contains("\"pause\""), "the one at the path answers")
      sockets[0].close()
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty, "nothing stays beside it")
    }
  }

  @Test func `a socket that another program made at the path meanwhile stays`() throws {
    let path = try Self.path()
    let socket = try ControlSocket(at: path)
    unlink(path.path)
    let other = try UnixSocket(path: path.path).listen()
    socket.close()
    #expect(Self.mode(path) == 0o600)
    close(other)
    unlink(path.path)
  }

  @Test func `one client too many is told so, and there is room again when one has left`() async throws {
    let path = try Self.path()
    let socket = try ControlSocket(at: path)
    try socket.start { $0.answer(ControlReply($0.command)) }
    var crowd = try (0..<ControlSocket.mostClients).map { _ in
      try #require(try UnixSocket(path: path.path).connect())
    }
    let late = try Client(path)
    #expect(late.line().contains("no more are accepted"))
    #expect(late.line().isEmpty)
    close(crowd.removeLast())
    // The thread of the socket notices in its own time.
    var answer = ""
    while !answer.contains("pause") {
      let next = try Client(path)
      let line = Array("{\"command\": \"pause\"}\n".utf8)
      _ = line.withUnsafeBytes { Glibc.send(next.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      answer = next.line()
    }
    for client in crowd { close(client) }
    socket.close()
  }
}
