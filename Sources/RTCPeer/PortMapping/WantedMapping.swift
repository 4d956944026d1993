/// The transport of a mapped port, by its number in IP headers.
package enum MappedTransport: UInt8, Hashable, Sendable, CaseIterable {
  case udp = 17
  case tcp = 6
}

/// A port of this machine that the router shall forward.
package struct WantedMapping: Hashable, Sendable {
  package var transport: MappedTransport
  /// The port inside.
  package var port: UInt16

  package init(_ transport: MappedTransport, _ port: UInt16) { (self.transport, self.port) = (transport, port) }
}
