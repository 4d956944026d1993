import RTCWire

/// Every attribute of a message, typed and untyped, and both checksums.
public func fuzzSTUN(_ bytes: Span<UInt8>) {
  guard let message = try? StunMessage(parsing: bytes) else { return }
  precondition(StunMessage.isLikely(bytes) || bytes[0] >= 4)
  var cursor = message.attributes
  var size = 0
  while let attribute = cursor.next() { size += 4 + attribute.value.count }
  precondition(size <= bytes.count - StunHeader.size)
  _ = (message.priority, message.iceRole, message.nominates, message.errorCode)
  _ = (message.xorMappedAddress, message.mappedAddress, message.notUnderstood, message.unknownAttributes)
  if let receiver = message.receiverFragment, let sender = message.senderFragment {
    precondition(receiver.count + 1 + sender.count == message.username!.count)
  }
  precondition(!message.isAuthentic(key: StunIntegrityKey(password: "not the one")))
  _ = message.hasValidFingerprint
}
