import RTCPrimitives
import RTCSignaling

/// The words of a proxy: the beginning of a connection in the PROXY protocol, then headers, a line each: the connection's address,
/// `Forwarded` twice, `X-Forwarded-For` twice, `X-Forwarded-Host`, `X-Forwarded-Proto`. The result is the same however the bytes of
/// the beginning come, and nothing is believed from an address that is not trusted.
public func fuzzProxy(_ bytes: Span<UInt8>) {
  checkBeginning(bytes)
  let lines = fuzzLines(bytes).map { String(decoding: $0, as: UTF8.self) }
  func values(_ numbers: ClosedRange<Int>) -> [String] { numbers.filter { $0 < lines.count }.map { lines[$0] } }
  let (forwarded, hops, hosts, schemes) = (values(1...2), values(3...4), values(5...5), values(6...6))
  let trusted = [AddressPrefix("10.0.0.0/8")!, AddressPrefix("2001:db8::/32")!]
  for connection in [lines[0], "10.0.0.1", "192.0.2.1"] {
    let isTrusted = ForwardedAddress.isTrusted(connection, trusted)
    let client = ForwardedAddress.client(of: connection, forwarded: forwarded, forwardedFor: hops, trusting: trusted)
    precondition(isTrusted || client == connection, "an untrusted address is believed")
    if let client, client != connection { precondition(IPAddress(client) != nil) }
    let place = ForwardedAddress.place(
      of: connection, forwarded: forwarded, forwardedFor: hops, hosts: hosts, schemes: schemes, trusting: trusted)
    precondition(isTrusted || place == ForwardedPlace())
    if let host = place.host { precondition(HostName.split(authority: host) != nil) }
  }
  _ = ForwardedAddress.nearest(forwarded: forwarded, forwardedFor: hops)
  _ = ViewerChecks(parsing: lines[0])
  if let base = BasePath(lines[0]) { precondition(BasePath(base.text) == base) }
  if let address = try? PublicAddress(parsing: lines[0]) {
    precondition((try? PublicAddress(parsing: address.description)) == address)
  }
}

private func checkBeginning(_ bytes: Span<UInt8>) {
  let whole = ProxyHeader.read(bytes)
  if case .header(let header) = whole { precondition((1...bytes.count).contains(header.length)) }
  // Until it is decided, more bytes are asked for; then more bytes change nothing.
  for count in 0..<min(bytes.count, 64) {
    let reading = ProxyHeader.read(bytes.extracting(0..<count))
    if reading != .incomplete, count > 0 { precondition(reading == whole, "decided too early") }
  }
}
