import NIOCore
import NIOHTTP1
import RTCPeer
import RTCPrimitives
import RTCSignalingNIO

/// The response of a server to a WebSocket handshake, and of a proxy to CONNECT, in pieces of a size that the input
/// chooses: the result does not depend on the pieces, nor does the cost of each byte.
public func fuzzHTTPHead(_ bytes: Span<UInt8>) {
  guard bytes.count > 1 else { return }
  let answer = [UInt8](copying: bytes.extracting(1..<bytes.count))
  let part = Int(bytes[0]) + 1
  let heads = readHeads(answer, part: part)
  precondition(heads.read == readHeads(answer, part: answer.count).read)
  for head in heads.read { precondition((100...999).contains(head.status.code)) }
  checkTunnel(answer, part: part)
}

private func readHeads(_ answer: [UInt8], part: Int) -> (read: [HTTPResponseHead], isRefused: Bool) {
  var reader = HTTPResponseHeadReader()
  var buffer = ByteBuffer()
  var heads: [HTTPResponseHead] = []
  for start in stride(from: 0, to: answer.count, by: part) {
    buffer.writeBytes(answer[start..<min(answer.count, start + part)])
    do {
      while let head = try reader.read(&buffer) { heads.append(head) }
    } catch {
      return (heads, true)
    }
  }
  return (heads, false)
}

private func checkTunnel(_ answer: [UInt8], part: Int) {
  var tunnel = HTTPTunnel(to: "turn.example", port: 443, credentials: "user:password")
  for start in stride(from: 0, to: answer.count, by: part) {
    let end = min(answer.count, start + part)
    switch tunnel.receive(answer.span.extracting(start..<end)) {
    case .waiting: continue
    case .open(let rest):
      precondition(rest == Array(answer[(end - rest.count)..<end]), "bytes behind the head are lost")
    case .refused(let sentence): precondition(sentence.count <= 120)
    }
    return
  }
}
