import RTCNet

/// Addresses in answers of multicast DNS: names come out in small letters and of bounded length.
public func fuzzMDNS(_ bytes: Span<UInt8>) {
  for (name, _) in MDNSMessage.addresses(in: bytes) {
    precondition(name.utf8.count <= 3 * 255)
    _ = MDNSMessage.question(for: name)
  }
}
