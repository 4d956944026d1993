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
    port = try former?.port ?? Self.freePort()
    tlsPort = try former?.tlsPort ?? Self.freePort()
    process = try TestProcess(
      [
        "turnserver", "-n", "-v", "--no-cli", "--listening-ip=127.0.0.1", "--relay-ip=127.0.0.1", "--realm=rtcast.test",
        "--listening-port=\(port)", "--tls-listening-port=\(tlsPort)", "--lt-cred-mech", "--allow-loopback-peers",
        "--user=\(Self.username):\(Self.password)", "--cert=\(certificate)", "--pkey=\(folder)/key.pem", "--no-dtls",
        "--fingerprint", "--log-file=stdout", "--simple-log", "--userdb=\(folder)/db", "--pidfile=\(folder)/pid",
        "--no-rfc5780",
      ], errors: .withOutput)
    guard process.says("IPv4. UDP listener opened") else { throw NotStarted(description: "coturn: \(process.output)") }
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

  static func freePort() throws -> UInt16 { try UDPPort(.init(address: .loopbackV4)).number }
}

/// The server's output when it did not start.
private struct NotStarted: Error, CustomStringConvertible {
  let description: String
}
