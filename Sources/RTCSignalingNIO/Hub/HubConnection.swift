import NIOCore
import NIOWebSocket
import RTCSignaling

/// One client's WebSocket connection to the hub. Lives on the server's event loop and nowhere else.
final class HubConnection: WebSocketOwner {
  private let host: HubHost
  private let dialect: HubDialect
  private let query: [String: String]
  /// The client's IP address; empty when it is not known.
  private let address: String
  private var socket: WebSocketConnection?
  private var id = HubConnectionID(0)
  private var parting = HubParting.lost

  init(host: HubHost, dialect: HubDialect, query: [String: String], from address: String) {
    self.host = host
    self.dialect = dialect
    self.query = query
    self.address = address
  }

  func opened(_ connection: WebSocketConnection) {
    socket = connection
    id = host.admit(self)
    host.opened(id, dialect, query, from: address)
  }

  func received(text: ByteBuffer) { host.handle(.received(id, Array(text.readableBytesView))) }

  /// The servers of the other protocols read JSON from either kind of message, and SkyRTC's client for iOS sends binary ones.
  func received(binary: ByteBuffer) {
    guard dialect == .native else { return received(text: binary) }
    host.handle(.unreadable(id, .notText))
  }

  func heard() { host.handle(.heard(id)) }

  func broke(_ violation: WebSocketViolation) {
    let fault: HubFault =
      violation.code == .messageTooLarge
      ? .tooLarge(limit: host.limits.messageBytes)
      : .brokenWebSocket(closeCode: UInt16(webSocketErrorCode: violation.code), violation.problem)
    host.handle(.unreadable(id, fault))
  }

  func closing(_ code: WebSocketErrorCode?) {
    if code == nil || code == .normalClosure || code == .goingAway { parting = .goodbye }
  }

  func ended() {
    socket = nil
    host.gone(id, parting)
  }

  // MARK: Actions of the hub

  func send(_ text: String) {
    guard let socket else { return }
    let bytes = text.utf8.count
    let written = host.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenSuccess { _ in self.host.handle(.drained(self.id, bytes: bytes)) }
    socket.send(.text, ByteBuffer(string: text), written)
  }

  func ping() { socket?.send(.ping, ByteBuffer()) }

  /// Closes after the messages sent before.
  func close(code: UInt16, reason: String) { socket?.close(WebSocketErrorCode(codeNumber: Int(code)), reason: reason) }

  func abort() { socket?.abort() }
}
