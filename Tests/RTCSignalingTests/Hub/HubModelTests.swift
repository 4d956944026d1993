import RTCPrimitives
import RTCSignaling
import Testing

/// Random clients against a hub: nobody gets what is not for them, and nothing is left when all are gone.
@Suite struct HubModelTests {
  @Test(arguments: 0..<40 as Range<UInt64>) func `messages reach those they are meant for and nobody else`(seed: UInt64)
  {
    var random = SeededGenerator(seed: seed)
    var bench = HubBench {
      $0.messageBurst = 1000
      $0.faultBurst = 1000
    }
    var next = 1
    /// The clients that are connected, and the names of those that registered, which are their numbers.
    var alive: [Int] = []
    var dialects: [Int: HubDialect] = [:]
    for step in 0..<400 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1:
        let dialect = HubDialect.allCases.randomElement(using: &random)!
        dialects[next] = dialect
        bench.open(next, dialect, query: ["id": "n\(next)", "token": "t\(next)", "key": "peerjs"])
        switch dialect {
        case .native: bench.say(next, #"{"type":"register","id":"n\#(next)"}"#)
        case .skyRTC: bench.say(next, #"{"eventName":"__join","data":{"room":"r"}}"#)
        case .peerJS: break
        }
        alive.append(next)
        next += 1
      case 2:
        guard let client = alive.randomElement(using: &random) else { continue }
        alive.removeAll { $0 == client }
        bench.close(client, Bool.random(using: &random) ? .lost : .goodbye)
      case 3: bench.pass(.milliseconds(Int64.random(in: 0..<4000, using: &random)))
      case 4:
        guard let client = alive.randomElement(using: &random), dialects[client] == .native else { continue }
        let word = Bool.random(using: &random) ? "join" : "leave"
        bench.say(client, #"{"type":"\#(word)","room":"\#(["r", "s"].randomElement(using: &random)!)"}"#)
      default:
        guard let client = alive.randomElement(using: &random) else { continue }
        let target = Int.random(in: 1..<next + 1, using: &random)
        bench.say(client, Self.message(to: Self.name(target, dialects), mark: "<\(target):\(step)>", dialects[client]!))
      }
      for client in 1..<next {
        for text in bench.take(client) {
          guard let mark = text.firstIndex(of: "<") else { continue }
          #expect(text[mark...].hasPrefix("<\(client):"), "\(client) got \(text)")
        }
      }
    }
    for client in alive { bench.close(client, .lost) }
    bench.pass(.seconds(120))
    let left = bench.hub.counters
    #expect(left.connections == 0 && left.peers == 0 && left.rooms == 0 && left.absentPeers == 0)
    #expect(left.heldMessages == 0 && left.heldBytes == 0)
    #expect(bench.hub.deadline == nil)
  }

  private static func name(_ client: Int, _ dialects: [Int: HubDialect]) -> String {
    guard dialects[client] == .skyRTC else { return "n\(client)" }
    return HubOpening.name(from: Array(repeating: UInt8(truncatingIfNeeded: client), count: 16))
  }

  private static func message(to name: String, mark: String, _ dialect: HubDialect) -> String {
    switch dialect {
    case .native: #"{"type":"signal","to":"\#(name)","data":{"type":"offer","sdp":"\#(mark)"}}"#
    case .peerJS: #"{"type":"OFFER","dst":"\#(name)","payload":{"sdp":{"type":"offer","sdp":"\#(mark)"}}}"#
    case .skyRTC:
      #"{"eventName":"__offer","data":{"sdp":{"type":"offer","sdp":"\#(mark)"},"socketId":"\#(name)"}}"#
    }
  }
}
