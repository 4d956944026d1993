import NIOCore
import NIOWebSocket
import RTCPrimitives
import RTCSignalingNIO

/// Frames of a client or a server: a byte with the bits of the head, one with the length, then the payload. A message that
/// comes out has exactly the bytes of its frames, and texts are UTF-8.
public func fuzzWebSocket(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  guard let flags = reader.readUInt8() else { return }
  let isMasked = flags & 1 == 1
  let messageBytes = 64 << Int(flags >> 4)
  var sockets = WebSocketReader(expectsMask: isMasked, messageBytes: messageBytes)
  var message: [UInt8] = []
  while let head = reader.readUInt8() {
    let payload = reader.takeBytes()
    guard let opcode = WebSocketOpcode(encodedWebSocketOpcode: head & 0xF) else { return }
    let frame = makeFrame(head, opcode, payload, isMasked: isMasked)
    if opcode == .text || opcode == .binary { message = [] }
    if opcode == .text || opcode == .binary || opcode == .continuation { message += payload }
    do throws(WebSocketViolation) {
      check(try sockets.read(frame), message, payload, messageBytes)
    } catch {
      precondition(error.problem.utf8.count < 200)
      return
    }
  }
}

private func makeFrame(_ head: UInt8, _ opcode: WebSocketOpcode, _ payload: [UInt8], isMasked: Bool) -> WebSocketFrame {
  // The mask is the payload's length; reserved bits are rare, or nothing would be read.
  let key: [UInt8] = [UInt8(truncatingIfNeeded: payload.count), 1, 2, 3]
  let masked = payload.enumerated().map { $1 ^ key[$0 % 4] }
  return WebSocketFrame(
    fin: head & 0x80 == 0, rsv1: head & 0x70 == 0x70, opcode: opcode,
    maskKey: isMasked != (head & 0x60 == 0x60) ? WebSocketMaskingKey(key) : nil,
    data: ByteBuffer(bytes: isMasked ? masked : payload))
}

private func check(
  _ event: WebSocketReader.Event?, _ message: [UInt8], _ payload: [UInt8], _ messageBytes: Int
) {
  switch event {
  case .text(let data):
    precondition(Array(data.readableBytesView) == message && String(validating: message, as: UTF8.self) != nil)
    precondition(message.count <= messageBytes)
  case .binary(let data):
    precondition(Array(data.readableBytesView) == message && message.count <= messageBytes)
  case .ping(let data): precondition(Array(data.readableBytesView) == payload)
  case .close(let code): precondition(code == nil || payload.count >= 2)
  case .pong, nil: break
  }
}
