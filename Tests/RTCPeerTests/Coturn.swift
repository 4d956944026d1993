import Foundation
import ProcessKit
import RTCNet
import RTCPrimitives
import Testing

/// A TURN server of coturn's on loopback, over UDP, TCP and TLS, with one user.
final class Coturn: Sendable {
  static let username = "ada"
  static let password = "lovelace"

  let port: UInt16
  let tlsPort: UInt16
  /// PEM; vouches for itself, and for 127.0.0.1.
  let certificate: String
  private let folder: String
  private let process: TestProcess

  /// - Parameter former: takes its place, on the same ports.
  init(after former: Coturn? = nil) throws {
    folder = NSTemporaryDirectory() + "rtcast-coturn-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    certificate = folder + "/certificate.pem"
    try TestProcess.run([
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=turn",
      "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2", "-keyout", folder + "/key.pem", "-out", certificate,
    ])
    port = former?.port ?? Self.freePort()
    tlsPort = former?.tlsPort ?? Self.freePort()
    process = try TestProcess(
      [
        "turnserver", "-n", "-v", "--no-cli", "--listening-ip=127.0.0.1", "--relay-ip=127.0.0.1", "--realm=rtcast.test",
        "--listening-port=\(port)", "--tls-listening-port=\(tlsPort)", "--lt-cred-mech", "--allow-loopback-peers",
        "--user=\(Self.username):\(Self.password)", "--cert=\(certificate)", "--pkey=\(folder)/key.pem", "--no-dtls",
        "--fingerprint", "--log-file=stdout", "--simple-log", "--userdb=\(folder)/db", "--pidfile=\(folder)/pid",
        "--no-rfc5780",
      ], errors: .withOutput)
    // Each is opened by a thread of its own.
    for line in ["UDP listener opened", "opened on : 127.0.0.1:\(port)", "opened on : 127.0.0.1:\(tlsPort)"] {
      guard process.says(line) else { throw NotStarted(description: "coturn: \(process.output)") }
    }
  }

  deinit {
    process.end(SIGKILL)
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// As a machine that loses its power.
  func kill() { process.end(SIGKILL) }

  func server(_ url: String, password: String = Coturn.password) throws -> ICEServer {
    try ICEServer(parsing: [url], username: Self.username, credential: password)
  }

  /// A port that is free for UDP and TCP, outside of the range from which the kernel takes those of outgoing connections.
  static func freePort() -> UInt16 {
    while true {
      let number = UInt16.random(in: 12_000..<30_000)
      if (try? UDPPort(.init(port: number, address: .loopbackV4))) != nil, canListen(at: number) { return number }
    }
  }

  private static func canListen(at port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}

/// The server's output when it did not start.
private struct NotStarted: Error, CustomStringConvertible {
  let description: String
}
