package import RTCPrimitives
package import RTCWire

/// Restores lost packets of one video from repair packets (draft-ietf-payload-flexible-fec-scheme-03, RFC 5109).
///
/// Media packets are kept as they were protected. A repair packet that misses just one of its packets restores it, which may
/// let others restore more. Nothing in it trusts the sender; its memory is fixed.
package struct FECDecoder {
  /// Media packets kept, by the low bits of their numbers: more than the longest mask of FlexFEC.
  package static let mediaCapacity = 256
  /// Repair packets that wait for others.
  package static let repairCapacity = 48
  /// Longer packets are not kept.
  package static let slotSize = 1_500

  /// One repair packet.
  private struct Repair {
    var fields: FECRecoveryFields
    var base: SequenceNumber
    /// The protected packets that are not here.
    var missing: FECMask
    /// All protected packets; empty: the slot is free.
    var mask: FECMask
    /// Bytes of repair data.
    var count: Int
  }

  private let ssrc: SSRC
  private var media: [UInt8]
  /// The packet in each slot, and its length; 0: none.
  private var slots: [(number: SequenceNumber, count: Int)]
  private var repairs: [Repair] = []
  /// The repairs' data, `slotSize` bytes each.
  private var data: [UInt8]
  /// The place that is overwritten next when all are taken.
  private var oldest = 0
  /// The highest number so far; packets far from it are outdated.
  private var newest: SequenceNumber?
  /// Packets that were restored and not yet taken.
  private var restored: [SequenceNumber] = []
  /// Repair packets received that could be read.
  package private(set) var repairPacketsReceived = 0
  /// Packets restored.
  package private(set) var packetsRecovered = 0

  /// - Parameter ssrc: of the media.
  package init(ssrc: SSRC) {
    self.ssrc = ssrc
    media = Array(repeating: 0, count: Self.mediaCapacity * Self.slotSize)
    slots = Array(repeating: (SequenceNumber(0), 0), count: Self.mediaCapacity)
    data = Array(repeating: 0, count: Self.repairCapacity * Self.slotSize)
    repairs.reserveCapacity(Self.repairCapacity)
    restored.reserveCapacity(16)
  }

  // MARK: - Packets in

  /// Keeps a received media packet, and restores packets with it.
  /// - Parameters:
  ///   - packet: the packet that `header` was parsed from.
  ///   - map: the header extensions: values that are filled in at sending are not protected.
  ///   - isRED: whether its payload is one block of RED, whose header is not protected.
  package mutating func addMedia(
    _ header: RTPHeader, in packet: Span<UInt8>, map: RTPHeaderExtensionMap, isRED: Bool
  ) {
    let number = header.sequenceNumber
    let red = header.payload.lowerBound
    let count = packet.count - (isRED ? 1 : 0)
    guard count <= Self.slotSize, !isRED || !header.payload.isEmpty, follow(number), !has(number) else { return }
    let start = place(number) * Self.slotSize
    var all = media.mutableSpan
    var slot = all._mutatingExtracting(start..<start + count)
    if isRED {
      var front = slot._mutatingExtracting(0..<red)
      front.copy(from: packet.extracting(0..<red))
      var back = slot._mutatingExtracting(red..<count)
      back.copy(from: packet.extracting(red + 1..<packet.count))
      slot[1] = slot[1] & 0x80 | packet[red] & 0x7F
    } else {
      slot.copy(from: packet)
    }
    var elements = header.extensionElements(in: packet)
    while let element = elements.next() {
      switch map.uri(id: element.id) {
      case .absSendTime, .transportSequenceNumber: for index in element.range { slot[index] = 0 }
      default: break
      }
    }
    slots[place(number)] = (number, count)
    noteArrival(number)
    restore()
  }

  /// Takes the payload of a FlexFEC packet.
  /// - Returns: false when it cannot be read, or is another stream's.
  package mutating func addFlexFEC(_ payload: Span<UInt8>) -> Bool {
    guard let header = FlexFECHeader(parsing: payload), header.ssrc == ssrc else { return false }
    add(header.fields, header.base, header.mask, data: payload.extracting(header.size..<payload.count))
    return true
  }

  /// Takes an ULPFEC packet, what stands behind its RED header.
  /// - Returns: false when it cannot be read.
  package mutating func addULPFEC(_ payload: Span<UInt8>) -> Bool {
    guard let header = ULPFECHeader(parsing: payload) else { return false }
    let end = header.size + Int(header.protectionLength)
    add(header.fields, header.base, header.mask, data: payload.extracting(header.size..<end))
    return true
  }

  private mutating func add(
    _ fields: FECRecoveryFields, _ base: SequenceNumber, _ mask: FECMask, data bytes: Span<UInt8>
  ) {
    repairPacketsReceived += 1
    guard bytes.count <= Self.slotSize - RTPHeader.fixedSize,
      newest.map({ abs(base.distance(from: $0)) < Self.mediaCapacity / 2 }) ?? true
    else { return }
    var missing = mask
    for distance in 0..<mask.span where mask.contains(distance) && has(base.advanced(by: distance)) {
      missing.remove(distance)
    }
    guard !missing.isEmpty else { return }
    let repair = Repair(fields: fields, base: base, missing: missing, mask: mask, count: bytes.count)
    let place: Int
    if let free = repairs.firstIndex(where: { $0.mask.isEmpty }) {
      place = free
      repairs[place] = repair
    } else if repairs.count < Self.repairCapacity {
      place = repairs.count
      repairs.append(repair)
    } else {
      place = oldest
      oldest = (oldest + 1) % Self.repairCapacity
      repairs[place] = repair
    }
    var all = data.mutableSpan
    var slot = all._mutatingExtracting(place * Self.slotSize..<place * Self.slotSize + bytes.count)
    slot.copy(from: bytes)
    restore()
  }

  // MARK: - Packets out

  /// The next packet that was restored; nil when there is none.
  package mutating func takeRestored() -> SequenceNumber? { restored.isEmpty ? nil : restored.removeFirst() }

  /// The bytes of a packet that is kept; empty for any other.
  @_lifetime(borrow self)
  package func packet(_ number: SequenceNumber) -> Span<UInt8> {
    let start = place(number) * Self.slotSize
    return media.span.extracting(start..<start + (has(number) ? slots[place(number)].count : 0))
  }

  // MARK: - Restoring

  private mutating func restore() {
    while let index = repairs.firstIndex(where: { $0.missing.count == 1 }) {
      if let number = restore(with: repairs[index]) {
        packetsRecovered += 1
        if restored.count < Self.repairCapacity { restored.append(number) }
        noteArrival(number)
      }
      repairs[index].mask = FECMask()
      repairs[index].missing = FECMask()
    }
  }

  /// Restores the one packet that is missing of those a repair packet protects.
  /// - Returns: its number; nil when it cannot be, as when the others are no longer here.
  private mutating func restore(with repair: Repair) -> SequenceNumber? {
    guard let index = repairs.firstIndex(where: { $0.base == repair.base && $0.missing == repair.missing }),
      let gap = repair.missing.first
    else { return nil }
    let number = repair.base.advanced(by: gap)
    var fields = repair.fields
    for distance in 0..<repair.mask.span where distance != gap && repair.mask.contains(distance) {
      let other = repair.base.advanced(by: distance)
      guard has(other) else { return nil }
      fields.combine(FECRecoveryFields(packet(other)))
    }
    let count = Int(fields.length)
    guard count <= repair.count, follow(number), !has(number) else { return nil }
    for distance in 0..<repair.mask.span where distance != gap && repair.mask.contains(distance) {
      combine(place(repair.base.advanced(by: distance)), into: index, count: count)
    }
    write(fields, number, repair: index, count: count, at: place(number) * Self.slotSize)
    slots[place(number)] = (number, RTPHeader.fixedSize + count)
    return number
  }

  /// Combines repair data, of which `count` bytes matter, with a media packet's bytes behind its fixed header.
  private mutating func combine(_ slot: Int, into repair: Int, count: Int) {
    let media = media  // the reference: `self` is taken while its memory is written
    let common = max(0, min(count, slots[slot].count - RTPHeader.fixedSize))
    let (source, target) = (slot * Self.slotSize + RTPHeader.fixedSize, repair * Self.slotSize)
    var all = data.mutableSpan
    var bytes = all._mutatingExtracting(target..<target + common)
    bytes.combine(media.span.extracting(source..<source + common))
  }

  /// Writes a restored packet into its slot: header, and the repair data.
  private mutating func write(
    _ fields: FECRecoveryFields, _ number: SequenceNumber, repair: Int, count: Int, at target: Int
  ) {
    let (data, ssrc) = (data, ssrc)  // the reference: `self` is taken while its memory is written
    let start = repair * Self.slotSize
    var all = media.mutableSpan
    var writer = ByteWriter(all._mutatingExtracting(target..<target + RTPHeader.fixedSize + count))
    fields.writeHeader(number: number, ssrc: ssrc, into: &writer)
    writer.write(data.span.extracting(start..<start + count))
  }

  private mutating func noteArrival(_ number: SequenceNumber) {
    for index in repairs.indices where !repairs[index].mask.isEmpty {
      let distance = number.distance(from: repairs[index].base)
      guard repairs[index].missing.contains(distance) else { continue }
      repairs[index].missing.remove(distance)
      if repairs[index].missing.isEmpty { repairs[index].mask = FECMask() }
    }
  }

  // MARK: - Numbers

  private func place(_ number: SequenceNumber) -> Int { Int(number.value) % Self.mediaCapacity }

  private func has(_ number: SequenceNumber) -> Bool {
    let slot = slots[place(number)]
    return slot.count > 0 && slot.number == number
  }

  /// Follows the numbers of media; a leap discards all kept packets.
  /// - Returns: false for an outdated packet.
  private mutating func follow(_ number: SequenceNumber) -> Bool {
    guard let newest else {
      self.newest = number
      return true
    }
    let distance = number.distance(from: newest)
    guard distance > 0 else { return -distance < Self.mediaCapacity }
    if distance >= Self.mediaCapacity {
      for index in slots.indices { slots[index].count = 0 }
      repairs.removeAll(keepingCapacity: true)
    }
    self.newest = number
    return true
  }
}
