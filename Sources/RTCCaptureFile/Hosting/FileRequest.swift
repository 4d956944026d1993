internal import RTCIsolation
package import RTCPrimitives

/// A request to the process that reads a file. Each request has its answers (`FileAnswer`); there is one at a time.
package enum FileRequest: Hashable, Sendable {
  /// Open the file whose bytes the other side has.
  case open(wantsAudio: Bool, ending: String)
  case prepare(sendsPictures: Bool, sendsSound: Bool)
  /// Read packets, a few at once.
  case read
  case seek(Int64)
  case rewind
  case decodePictures(packet: UInt64, stamp: PacketStamp, decodeTime: TimeDelta, PictureSelection)
  case finishPictures(PictureSelection, showsHeld: Bool)
  case decodeSound(packet: UInt64, stamp: PacketStamp)
  case finishSound
  case reset(isPicture: Bool)

  /// The memory that this program has finished with: a bit for each slot of pictures, and packets.
  package struct Released: Hashable, Sendable {
    package var slots: UInt64
    package var packets: [UInt64]

    package init(slots: UInt64 = 0, packets: [UInt64] = []) { (self.slots, self.packets) = (slots, packets) }
    /// Packets in one message at most.
    package static let mostPackets = 512
  }

  /// The ending of a file's name has at most so many bytes.
  private static let longestEnding = 16

  /// The answer to `FileAnswer.bytesWanted`: this kind, the status in eight bytes, and the bytes.
  package static let bytes: UInt8 = 80
  /// The answer to `FileAnswer.sizeWanted`: this kind, and the size.
  package static let size: UInt8 = 81

  private var kind: UInt8 {
    switch self {
    case .open: 64
    case .prepare: 65
    case .read: 66
    case .seek: 67
    case .rewind: 68
    case .decodePictures: 69
    case .finishPictures: 70
    case .decodeSound: 71
    case .finishSound: 72
    case .reset: 73
    }
  }

  package func bytes(_ released: Released) -> [UInt8] {
    var writer = MessageWriter(kind: kind, capacity: 160 + 8 * released.packets.count)
    writer.write(released.slots)
    writer.write(released.packets.count)
    for packet in released.packets { writer.write(packet) }
    switch self {
    case .open(let wantsAudio, let ending):
      writer.write(wantsAudio)
      writer.write(ending)
    case .prepare(let sendsPictures, let sendsSound):
      writer.write(sendsPictures)
      writer.write(sendsSound)
    case .seek(let time): writer.write(time)
    case .decodePictures(let packet, let stamp, let decodeTime, let selection):
      writer.write(packet)
      stamp.write(to: &writer)
      writer.write(decodeTime.nanoseconds)
      selection.write(to: &writer)
    case .finishPictures(let selection, let showsHeld):
      selection.write(to: &writer)
      writer.write(showsHeld)
    case .decodeSound(let packet, let stamp):
      writer.write(packet)
      stamp.write(to: &writer)
    case .reset(let isPicture): writer.write(isPicture)
    case .read, .rewind, .finishSound: break
    }
    return writer.bytes
  }

  /// Reads a request; nil for a malformed message.
  package static func parse(_ message: Span<UInt8>) -> (request: FileRequest, released: Released)? {
    var reader = ByteReader(message)
    guard let kind = reader.readUInt8(), let slots = reader.readUInt64(), let count = reader.readInt(),
      (0...Released.mostPackets).contains(count)
    else { return nil }
    var packets: [UInt64] = []
    for _ in 0..<count {
      guard let packet = reader.readUInt64() else { return nil }
      packets.append(packet)
    }
    guard let request = read(kind, &reader), reader.isAtEnd else { return nil }
    return (request, Released(slots: slots, packets: packets))
  }

  private static func read(_ kind: UInt8, _ reader: inout ByteReader) -> FileRequest? {
    switch kind {
    case 64:
      guard let wantsAudio = reader.readBool(), let ending = reader.readText(), ending.utf8.count <= longestEnding
      else { return nil }
      return .open(wantsAudio: wantsAudio, ending: ending)
    case 65:
      guard let pictures = reader.readBool(), let sound = reader.readBool() else { return nil }
      return .prepare(sendsPictures: pictures, sendsSound: sound)
    case 66: return .read
    case 67: return reader.readInt64().map { .seek($0) }
    case 68: return .rewind
    case 69:
      guard let packet = reader.readUInt64(), let stamp = PacketStamp(reading: &reader),
        let time = reader.readInt64(), let selection = PictureSelection(reading: &reader)
      else { return nil }
      return .decodePictures(packet: packet, stamp: stamp, decodeTime: TimeDelta(nanoseconds: time), selection)
    case 70:
      guard let selection = PictureSelection(reading: &reader), let showsHeld = reader.readBool() else { return nil }
      return .finishPictures(selection, showsHeld: showsHeld)
    case 71:
      guard let packet = reader.readUInt64(), let stamp = PacketStamp(reading: &reader) else { return nil }
      return .decodeSound(packet: packet, stamp: stamp)
    case 72: return .finishSound
    case 73: return reader.readBool().map { .reset(isPicture: $0) }
    default: return nil
    }
  }
}

extension MessageWriter {
  /// Whether there is a value, and the value or 0.
  mutating func write(_ value: Int64?) {
    write(value != nil)
    write(value ?? 0)
  }
}

extension ByteReader {
  /// Reads an optional value. Nil when the message is cut short; else the value or that there is none.
  mutating func readOptional() -> Int64?? {
    guard let isThere = readBool(), let value = readInt64() else { return nil }
    return .some(isThere ? value : nil)
  }
}

extension PacketStamp {
  fileprivate func write(to writer: inout MessageWriter) {
    writer.write(pts)
    writer.write(dts)
    writer.write(duration)
  }

  fileprivate init?(reading reader: inout ByteReader) {
    guard let pts = reader.readOptional(), let dts = reader.readOptional(), let duration = reader.readInt64() else {
      return nil
    }
    self.init(pts: pts, dts: dts, duration: duration)
  }
}

extension PictureSelection {
  fileprivate func write(to writer: inout MessageWriter) {
    writer.write(floor.nanoseconds)
    writer.write(interval?.nanoseconds)
    writer.write(isLate)
  }

  fileprivate init?(reading reader: inout ByteReader) {
    guard let floor = reader.readInt64(), let interval = reader.readOptional(), let isLate = reader.readBool() else {
      return nil
    }
    self.init(
      floor: TimeDelta(nanoseconds: floor), interval: interval.map { TimeDelta(nanoseconds: $0) }, isLate: isLate)
  }
}
