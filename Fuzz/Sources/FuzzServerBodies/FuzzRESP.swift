import RTCCluster
import RTCPrimitives
import RTCSignaling

/// The bytes of a Redis server: the values are the same however the bytes come, and a fault ends the stream for good. The
/// values are then the replies and messages of a hub's machine.
public func fuzzRESP(_ bytes: Span<UInt8>) {
  let whole = fuzzArray(bytes)
  let (values, fault) = readRESP(whole, pieces: whole.count)
  for size in [1, 7] {
    let (others, otherFault) = readRESP(whole, pieces: size)
    precondition(others == values, "other values by pieces of \(size)")
    precondition(otherFault == fault, "another fault by pieces of \(size)")
  }
  feedMachine(values)
}

private func fuzzArray(_ bytes: Span<UInt8>) -> [UInt8] { [UInt8](copying: bytes) }

private func readRESP(_ bytes: [UInt8], pieces: Int) -> (values: [RESPValue], fault: RESPReader.Fault?) {
  var limits = RESPReader.Limits()
  (limits.bytes, limits.depth, limits.elements) = (4_096, 4, 256)
  var reader = RESPReader(limits)
  var values: [RESPValue] = []
  var rest = bytes[...]
  while !rest.isEmpty {
    reader.append(rest.prefix(max(1, pieces)))
    rest = rest.dropFirst(max(1, pieces))
    do throws(RESPReader.Fault) {
      while let value = try reader.read() { values.append(value) }
    } catch {
      return (values, error)
    }
  }
  return (values, nil)
}

/// Whatever Redis answers, the machine serves only names that it has claimed, and answers each question about a link or stream
/// at most once.
private func feedMachine(_ values: [RESPValue]) {
  var machine = ClusterMachine(hub: "me", prefix: "{f}", roomMembers: 4)
  var now = Timestamp.zero
  var asked: [UInt64] = []
  var (questions, lastQuestion): (Set<UInt64>, UInt64) = ([], 0)
  func note(_ actions: [ClusterMachine.Action]) {
    for action in actions {
      switch action {
      case .run(let id, _, _), .publish(let id, _, _): asked.append(id)
      case .disconnect: asked = []
      case .used(let question, _), .published(let question, _):
        precondition(questions.remove(question) != nil, "a question is answered twice")
      case .report, .streams, .stopped: break
      }
    }
  }
  func ask() {
    let link = SignedLink(.watch, issued: 0, uses: 2, id: "link-of-the-fuzzer")
    questions.formUnion([lastQuestion + 1, lastQuestion + 2])
    lastQuestion += 2
    note(machine.handle(.use(lastQuestion - 1, link, client: "client"), now: now))
    note(machine.handle(.publish(lastQuestion, "s"), now: now))
  }
  note(machine.handle(.connected, now: now))
  var claim = PresenceClaim(id: .init(rawValue: 1), subject: .name("n"))
  claim.secret = "secret"
  note(machine.handle(.claim(claim), now: now))
  ask()
  for value in values {
    now += .milliseconds(Int64(100))
    if case .push(let parts) = value {
      guard parts.count == 3, let channel = parts[1].string, case .text(let text) = parts[2] else { continue }
      note(machine.handle(.published(channel: machineChannel(channel), text), now: now))
    } else if !asked.isEmpty {
      note(machine.handle(.reply(asked.removeFirst(), value), now: now))
    } else {
      note(machine.handle(.connected, now: now))
      note(machine.handle(.claim(claim), now: now))
      ask()
    }
    note(machine.handle(.pass(PresenceMessage(from: "n", to: "o", .request(.native, Array("{}".utf8)))), now: now))
    note(machine.handle(.deadline, now: now))
    precondition(machine.held.keys.allSatisfy { $0 == "n" }, "a name is served that was not claimed")
  }
}

private func machineChannel(_ name: String) -> String {
  switch name.first {
  case "c": "{f}:changes"
  case "w": "{f}:wrong"
  default: "{f}:to:me"
  }
}
