import RTCPrimitives
import RTCWire

/// Which of the peer's transceivers a packet is for.
enum MediaPlace {
  case video(Int)
  case sound(Int)
}

extension Peer {
  /// Finds a packet's transceiver (RFC 8843 §9.2): by the m-section it names, else by its source, else by its payload type
  /// where that belongs to one alone. What is learned so is remembered: packets soon stop naming their m-section.
  mutating func place(of packet: IncomingPacket, now: Timestamp) -> MediaPlace? {
    let source = packet.header.ssrc
    if let mid = packet.mid {
      guard let owner = owner(of: mid) else {
        drops[.unknownStream] += 1
        return nil
      }
      switch streams.bind(source, to: owner, now: now) {
      case .bound: break
      case .moved(let former): forget(source, of: former)
      case .refused:
        drops[.sourceCollision] += 1
        return nil
      }
      return place(of: owner)
    }
    if let owner = streams.owner(of: source) { return place(of: owner) }
    guard let owner = onlyOwner(of: packet.header.payloadType) else {
      drops[.unknownStream] += 1
      return nil
    }
    if case .refused = streams.bind(source, to: owner, now: now) {
      drops[.sourceCollision] += 1
      return nil
    }
    return place(of: owner)
  }

  private func place(of id: TransceiverID) -> MediaPlace? {
    if let index = video(id) { return .video(index) }
    if let index = sound(id) { return .sound(index) }
    return nil
  }

  private func owner(of mid: RTPStreamID) -> TransceiverID? {
    for index in videos.indices where videos[index].mid == mid { return videos[index].id }
    for index in sounds.indices where sounds[index].mid == mid { return sounds[index].id }
    return nil
  }

  /// The transceiver that alone receives this payload type.
  private func onlyOwner(of payloadType: PayloadType) -> TransceiverID? {
    var owner: TransceiverID?
    for index in videos.indices where videos[index].agreement?.meaning(of: payloadType) != nil {
      guard owner == nil else { return nil }
      owner = videos[index].id
    }
    for index in sounds.indices where sounds[index].agreement?.payloadType == payloadType {
      guard owner == nil else { return nil }
      owner = sounds[index].id
    }
    return owner
  }

  /// The source is another transceiver's from now on.
  private mutating func forget(_ source: SSRC, of id: TransceiverID) {
    if let index = video(id), videos[index].receiver?.ssrc == source {
      videos[index].receiver = nil
      videos[index].incoming.repairDeadline = .distantFuture
    }
    if let index = sound(id), sounds[index].receiver?.ssrc == source { sounds[index].receiver = nil }
  }
}
