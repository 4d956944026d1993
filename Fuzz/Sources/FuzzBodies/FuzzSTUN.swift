import RTCWire

/// Every attribute of a message, typed and untyped, and both checksums.
public func fuzzSTUN(_ bytes: Span<UInt8>) {
  if let header = TURNChannelHeader(parsing: bytes) {
    precondition(TURNChannelHeader.isLikely(bytes) && Int(header.length) + TURNChannelHeader.size <= bytes.count)
  }
  guard let message = try? STUNMessage(parsing: bytes) else { return }
  precondition(STUNMessage.isLikely(bytes) || bytes[0] >= 4)
  var cursor = message.attributes
  var size = 0
  while let attribute = cursor.next() { size += 4 + attribute.value.count }
  precondition(size <= bytes.count - STUNHeader.size)
  _ = (message.priority, message.iceRole, message.nominates, message.errorCode)
  _ = (message.xorMappedAddress, message.mappedAddress, message.unknownRequiredAttributes, message.unknownAttributes)
  _ = (message.realm, message.nonce, message.lifetime, message.channelNumber, message.requestedTransport)
  _ = (message.xorPeerAddresses, message.xorRelayedAddresses, message.alternateServer, message.additionalAddressFamily)
  if let range = message.dataRange { precondition(range.lowerBound >= 24 && range.upperBound <= bytes.count) }
  if let reason = message.errorReason { precondition(reason.count < bytes.count) }
  if let receiver = message.receiverFragment, let sender = message.senderFragment {
    precondition(receiver.count + 1 + sender.count == message.username!.count)
  }
  precondition(!message.isAuthentic(key: STUNIntegrityKey(password: "not the one")))
  _ = message.hasValidFingerprint
}
