package import RTCMedia
import RTCPrimitives

/// A message to a decoder's process.
package enum DecoderCommand {
  /// The first message: create a decoder for a codec.
  case open(VideoCodec)
  /// The first message: create a decoder for sound of 1 or 2 channels.
  case openSound(channels: Int)
  /// A part of a coded picture: the bytes of the message from `offset` on. With the last part the picture is decoded.
  case part(offset: Int, isLast: Bool, released: UInt64)

  /// A request for sound: of the packet that begins at `offset`, of the packet lost before it, or of a lost packet
  /// without any data.
  case sound(SoundRequest, sampleCount: Int, offset: Int)

  /// The source of the requested sound.
  package enum SoundRequest: UInt8, Sendable {
    case packet = 0
    case recovery = 1
    case concealment = 2
  }

  private static let opening: UInt8 = 32
  private static let soundOpening: UInt8 = 34
  private static let soundRequest: UInt8 = 35
  private static let frame: UInt8 = 33
  /// The bytes of the head: the kind, whether it is the last part, and the slots.
  package static let headCount = 10
  /// The most bytes of a picture in one message.
  package static let mostPayload = 60 * 1024

  /// The bytes of the first message.
  package static func openingBytes(_ codec: VideoCodec) -> [UInt8] {
    var writer = MessageWriter(kind: opening)
    writer.write(codec.rawValue)
    return writer.bytes
  }

  /// The bytes of the first message, for sound.
  package static func openingBytes(channels: Int) -> [UInt8] {
    var writer = MessageWriter(kind: soundOpening)
    writer.write(channels)
    return writer.bytes
  }

  /// The bytes before a packet in a request for sound.
  package static func soundHead(_ request: SoundRequest, sampleCount: Int) -> [UInt8] {
    var writer = MessageWriter(kind: soundRequest)
    writer.write(request.rawValue)
    writer.write(sampleCount)
    return writer.bytes
  }

  /// Writes the head of a part of a picture over the previous `head`.
  /// - Parameter released: the slots whose pictures are no longer read, a bit for each. They are sent with the next
  ///   picture, and so wake no process by themselves.
  package static func writeHead(_ head: inout [UInt8], isLast: Bool, released: UInt64) {
    head.removeAll(keepingCapacity: true)
    head.append(frame)
    head.append(isLast ? 1 : 0)
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      head.append(UInt8(truncatingIfNeeded: released >> shift))
    }
  }

  package init?(parsing message: Span<UInt8>) {
    var reader = ByteReader(message)
    switch reader.readUInt8() {
    case Self.opening:
      guard let codec = reader.readText().flatMap({ VideoCodec(rawValue: $0) }), reader.isAtEnd else { return nil }
      self = .open(codec)
    case Self.frame:
      guard let isLast = reader.readBool(), let released = reader.readUInt64() else { return nil }
      self = .part(offset: reader.offset, isLast: isLast, released: released)
    case Self.soundOpening:
      guard let channels = reader.readInt(), (1...2).contains(channels), reader.isAtEnd else { return nil }
      self = .openSound(channels: channels)
    case Self.soundRequest:
      guard let request = reader.readUInt8().flatMap({ SoundRequest(rawValue: $0) }), let count = reader.readInt()
      else {
        return nil
      }
      self = .sound(request, sampleCount: count, offset: reader.offset)
    default: return nil
    }
  }
}
