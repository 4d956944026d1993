import RTCPrimitives
import RTCSignaling

/// The bytes, cut at line feeds, as what a client of the native dialect says to a hub with others in it.
public func fuzzHub(_ bytes: Span<UInt8>) { fuzzHubDialect(bytes, .native) }

/// The same in the dialect of PeerJS.
public func fuzzPeerJS(_ bytes: Span<UInt8>) { fuzzHubDialect(bytes, .peerJS) }

/// The same in the dialect of SkyRTC.
public func fuzzSkyRTC(_ bytes: Span<UInt8>) { fuzzHubDialect(bytes, .skyRTC) }

private func fuzzHubDialect(_ bytes: Span<UInt8>, _ dialect: HubDialect) {
  var hub = Hub()
  let now = Timestamp.zero
  let zeros = [UInt8](repeating: 0, count: 16)
  let query = ["id": "a", "token": "t", "key": "peerjs"]
  for (number, other) in HubDialect.allCases.enumerated() {
    let id = HubConnectionID(UInt64(number + 2))
    let opening = HubOpening(
      dialect: other, query: ["id": "p", "token": "t", "key": "peerjs"], secretBytes: zeros, nameBytes: zeros)
    _ = hub.handle(.opened(id, opening), now: now)
    let hello =
      other == .native ? #"{"type":"register","id":"n"}"# : #"{"eventName":"__join","data":{"room":"r"}}"#
    if other != .peerJS { _ = hub.handle(.received(id, Array(hello.utf8)), now: now) }
  }
  let speaker = HubConnectionID(1)
  let opening = HubOpening(dialect: dialect, query: query, secretBytes: zeros, nameBytes: zeros.map { $0 + 1 })
  _ = hub.handle(.opened(speaker, opening), now: now)
  var line: [UInt8] = []
  for index in 0..<bytes.count {
    if bytes[index] == 10 {
      fuzzHubMessage(line, &hub, speaker, now)
      line = []
    } else {
      line.append(bytes[index])
    }
  }
  fuzzHubMessage(line, &hub, speaker, now)
}

/// Whatever comes out for a client of the native dialect is an object again.
private func fuzzHubMessage(_ line: [UInt8], _ hub: inout Hub, _ speaker: HubConnectionID, _ now: Timestamp) {
  for action in hub.handle(.received(speaker, line), now: now) {
    guard case .send(_, let text) = action else { continue }
    precondition(text.hasPrefix("{") && text.hasSuffix("}"))
  }
}

/// The bytes, cut at line feeds, as what a hub says to a client.
public func fuzzHubClient(_ bytes: Span<UInt8>) {
  guard let address = HubAddress("ws://hub.example") else { return }
  var session = HubSession(
    address: address, name: "a", token: nil, secret: String(repeating: "s", count: 32), seed: 1)
  let now = Timestamp.zero
  _ = session.handle(.start, now: now)
  _ = session.handle(.opened, now: now)
  _ = session.handle(.join(room: "r"), now: now)
  var line: [UInt8] = []
  for index in 0...bytes.count {
    guard index == bytes.count || bytes[index] == 10 else {
      line.append(bytes[index])
      continue
    }
    for action in session.handle(.received(line), now: now) {
      // What a call says is read again as it was written.
      guard case .report(.signal(_, let data, _)) = action, let signal = CallSignal(json: data) else { continue }
      precondition(CallSignal(json: signal.json) == signal)
    }
    line = []
  }
}
