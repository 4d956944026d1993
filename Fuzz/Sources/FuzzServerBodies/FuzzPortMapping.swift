import RTCPeer
import RTCPrimitives

/// A router that answers requests for port mappings with anything: time passes, or a datagram comes, with the nonce of the
/// last request or its own. Requests stay few, mappings are those that were wanted, and every deadline is in the future.
public func fuzzPortMapping(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  var random = SeededGenerator(seed: 1)
  var now = Timestamp(nanoseconds: 1_000_000_000)
  let wanted = [WantedMapping(.udp, 5_000), WantedMapping(.tcp, 8_080)]
  var client = PortMappingClient(wanted, client: 0x0A00_0002, now: now, random: &random)
  var asked: [[UInt8]] = []
  var steps = 0
  while steps < 200, let kind = reader.readUInt8() {
    steps += 1
    if kind < 64 {
      now += .milliseconds(Int64(kind) * Int64(kind) * 100)
      let (requests, events) = client.poll(now)
      precondition(requests.count <= 2 * wanted.count, "many requests at once")
      precondition(client.nextDeadline > now, "asks to be woken at once")
      for request in requests { precondition([2, 12, 60].contains(request.count)) }
      check(events, wanted)
      asked = requests.isEmpty ? asked : requests
    } else {
      guard let part = reader.read(min(Int(reader.readUInt8() ?? 0), reader.remaining)) else { break }
      var datagram = Array(copying: part)
      if kind < 192, let request = asked.first(where: { $0.count == 60 }), datagram.count >= 42 {
        datagram.replaceSubrange(24..<42, with: request[24..<42])
      }
      check(client.receive(datagram.span, now: now), wanted)
    }
  }
  for request in client.ends() { precondition([12, 60].contains(request.count)) }
}

private func check(_ events: [PortMappingClient.Event], _ wanted: [WantedMapping]) {
  for event in events {
    precondition(wanted.contains(event.wanted), "a port that nobody wanted")
    if let external = event.external { precondition(external.port > 0 && external.ip.isV4) }
    _ = event.notice(of: "port")
  }
}
