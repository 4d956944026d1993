package import RTCPrimitives

/// Where a client sent its request, as a trusted proxy states it.
package struct ForwardedPlace: Sendable, Hashable {
  /// Host and port by which the client knows the server.
  package var host: String?
  /// The scheme of the client's request.
  package var scheme: WebAddress.Scheme?

  package init(host: String? = nil, scheme: WebAddress.Scheme? = nil) { (self.host, self.scheme) = (host, scheme) }
}

/// Finds the address of a client behind trusted proxies.
package enum ForwardedAddress {
  /// Addresses that are looked at; real chains have two or three.
  private static let longestChain = 32

  /// Returns the client's address. That is the connection's address, unless it belongs to a trusted proxy: then the
  /// last address in `Forwarded` (RFC 7239) or `X-Forwarded-For` that is not a trusted proxy's. A client's own entries
  /// come before those that proxies append, and are not reached. One of the two headers may be the client's own: if
  /// both are present, they must name the same client.
  /// - Parameters:
  ///   - connection: the remote address of the connection.
  ///   - forwarded: the values of all `Forwarded` headers, in order.
  ///   - forwardedFor: the values of all `X-Forwarded-For` headers, in order.
  /// - Returns: nil if the two headers name different clients.
  package static func client(
    of connection: String, forwarded: [String], forwardedFor: [String], trusting proxies: [AddressPrefix]
  ) -> String? {
    guard isTrusted(connection, proxies) else { return connection }
    let chains = [forwarded.flatMap(hops), forwardedFor.flatMap(entries)].filter { !$0.isEmpty }
    let clients = Set(chains.map { client(of: connection, chain: $0, trusting: proxies) })
    return clients.count > 1 ? nil : clients.first ?? connection
  }

  private static func client(of connection: String, chain: [String], trusting proxies: [AddressPrefix]) -> String {
    walk(from: connection, chain, trusting: proxies).client
  }

  /// The last address of the chain that is not a trusted proxy's, and the number of entries that trusted proxies wrote.
  private static func walk(
    from connection: String, _ chain: [String], trusting proxies: [AddressPrefix]
  ) -> (client: String, hops: Int) {
    var (client, hops) = (connection, 0)
    for text in chain.suffix(longestChain).reversed() {
      hops += 1
      // A name, `unknown` or garbage: the proxy that wrote it is the last known address.
      guard let address = address(in: text) else { break }
      client = address.description
      guard isTrusted(client, proxies) else { break }
    }
    return (client, hops)
  }

  /// Host and scheme of the client's request, as the trusted proxy states them that the client is connected to.
  /// - Parameters:
  ///   - connection: the remote address of the connection; nothing is taken unless it is a trusted proxy's.
  ///   - forwarded: the values of all `Forwarded` headers, in order.
  ///   - forwardedFor: the values of all `X-Forwarded-For` headers; likewise `hosts` (`X-Forwarded-Host`) and `schemes`
  ///     (`X-Forwarded-Proto`).
  package static func place(
    of connection: String, forwarded: [String], forwardedFor: [String], hosts: [String], schemes: [String],
    trusting proxies: [AddressPrefix]
  ) -> ForwardedPlace {
    guard isTrusted(connection, proxies) else { return ForwardedPlace() }
    var place = ForwardedPlace()
    let elements = forwarded.flatMap(entries)
    if !elements.isEmpty {
      let (_, hops) = walk(from: connection, forwarded.flatMap(Self.hops), trusting: proxies)
      let element = elements[max(0, elements.count - max(1, hops))]
      place.host = value(of: "host", in: element)
      place.scheme = value(of: "proto", in: element).flatMap { WebAddress.Scheme(rawValue: $0.lowercased()) }
    }
    let (_, hops) = walk(from: connection, forwardedFor.flatMap(entries), trusting: proxies)
    // A proxy appends its value, or leaves the one that is there.
    func entry(_ values: [String]) -> String? {
      let all = values.flatMap(entries)
      return all.isEmpty ? nil : all[max(0, all.count - max(1, hops))]
    }
    place.host = place.host ?? entry(hosts)
    place.scheme = place.scheme ?? entry(schemes).flatMap { WebAddress.Scheme(rawValue: $0.lowercased()) }
    if let host = place.host, HostName.split(authority: host) == nil { place.host = nil }
    return place
  }

  /// The address that the nearest proxy says the request came from; nil when it says none.
  /// - Parameters:
  ///   - forwarded: the values of all `Forwarded` headers, in order.
  ///   - forwardedFor: the values of all `X-Forwarded-For` headers, in order.
  package static func nearest(forwarded: [String], forwardedFor: [String]) -> IPAddress? {
    let chain = forwarded.isEmpty ? forwardedFor.flatMap(entries) : forwarded.flatMap(hops)
    return chain.last.flatMap(address(in:))
  }

  package static func isTrusted(_ address: String, _ proxies: [AddressPrefix]) -> Bool {
    guard !proxies.isEmpty, let address = IPAddress(address.prefix { $0 != "%" }) else { return false }
    return proxies.contains { $0.contains(address) }
  }

  private static func entries(_ value: String) -> [String] {
    value.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmingBlanks()) }
  }

  /// The `for` of each element; empty where it has none.
  private static func hops(_ value: String) -> [String] { entries(value).map { self.value(of: "for", in: $0) ?? "" } }

  /// The value of a parameter of an element, without quotes.
  private static func value(of name: String, in element: String) -> String? {
    for pair in element.split(separator: ";") {
      let pair = pair.trimmingBlanks()
      guard let mark = pair.firstIndex(of: "="), pair[..<mark].trimmingBlanks().lowercased() == name else { continue }
      var text = pair[pair.index(after: mark)...].trimmingBlanks()
      if text.hasPrefix("\""), text.hasSuffix("\""), text.utf8.count >= 2 { text = text.dropFirst().dropLast() }
      return String(text)
    }
    return nil
  }

  /// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1%eth0]:4711`, each in quotes or not.
  private static func address(in text: String) -> IPAddress? {
    var text = Substring(text)
    if text.hasPrefix("\""), text.hasSuffix("\""), text.utf8.count >= 2 { text = text.dropFirst().dropLast() }
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || isPort(rest) else { return nil }
      text = text[text.index(after: text.startIndex)..<end]
    } else if let colon = text.firstIndex(of: ":"), text[text.index(after: colon)...].firstIndex(of: ":") == nil {
      guard isPort(text[colon...]) else { return nil }
      text = text[..<colon]
    }
    return IPAddress(text.prefix { $0 != "%" })?.unmapped
  }

  /// A number, or a name that begins with `_` (RFC 7239 §6).
  private static func isPort(_ text: Substring) -> Bool {
    guard text.hasPrefix(":") else { return false }
    let port = text.utf8.dropFirst()
    if port.first == UInt8(ascii: "_") {
      return port.count > 1 && port.allSatisfy { Base64URL.isLetter($0) || $0 == UInt8(ascii: ".") }
    }
    return (1...5).contains(port.count) && port.allSatisfy { (48...57).contains($0) }
  }
}
