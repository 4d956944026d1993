package import RTCMedia
import RTCPrimitives

/// A message from a decoder's process. The process is not trusted: a malformed message is nil.
package enum DecoderEvent {
  /// The first message: the decoder is created, and these are the rights that the process still has.
  case ready(Confinement)
  /// No decoder could be created; the process ends.
  case unavailable(VideoDecoderError)
  /// Shared memory for `slot`, in place of the memory before; its descriptor comes with the message.
  case segment(slot: UInt8)
  /// An answer to a coded picture: the picture, and whether the bitstream says its colour space.
  case picture(SharedPicture, saysColorSpace: Bool)
  case nothing
  /// The answer to a request for sound, interleaved.
  case sound([Float])
  case refused(VideoDecoderError)

  private static let readiness: UInt8 = 48
  private static let unavailability: UInt8 = 49
  private static let noPicture: UInt8 = 50
  private static let refusal: UInt8 = 51
  private static let someSound: UInt8 = 52

  package var bytes: [UInt8] {
    switch self {
    case .ready(let confinement):
      var writer = MessageWriter(kind: Self.readiness)
      writer.write(Int(confinement.error))
      writer.write(Int(confinement.rightsLeft.rawValue))
      return writer.bytes
    case .unavailable(let error): return Self.bytes(Self.unavailability, error)
    case .segment(let slot): return [ChannelMessage.segment, slot]
    case .picture(let picture, let saysColorSpace):
      var writer = MessageWriter(kind: ChannelMessage.picture)
      writer.write(saysColorSpace)
      picture.write(to: &writer)
      return writer.bytes
    case .nothing: return [Self.noPicture]
    case .sound(let samples):
      var writer = MessageWriter(kind: Self.someSound, capacity: samples.count * 4 + 16)
      writer.write(samples)
      return writer.bytes
    case .refused(let error): return Self.bytes(Self.refusal, error)
    }
  }

  private static func bytes(_ kind: UInt8, _ error: VideoDecoderError) -> [UInt8] {
    var writer = MessageWriter(kind: kind)
    switch error {
    case .library(let status):
      writer.write(UInt8(0))
      writer.write(status)
    case .unsupportedPicture(let sentence), .processLost(let sentence):
      writer.write(UInt8(1))
      writer.write(sentence)
    }
    return writer.bytes
  }

  package init?(parsing message: Span<UInt8>) {
    var reader = ByteReader(message)
    guard let kind = reader.readUInt8(), let event = Self.read(kind, &reader) else { return nil }
    self = event
  }

  private static func read(_ kind: UInt8, _ reader: inout ByteReader) -> DecoderEvent? {
    switch kind {
    case readiness:
      guard let error = reader.readInt(), let rights = reader.readInt() else { return nil }
      return .ready(
        Confinement(
          error: Int32(truncatingIfNeeded: error),
          rightsLeft: Confinement.Rights(rawValue: UInt32(truncatingIfNeeded: rights))))
    case unavailability: return readError(&reader).map { .unavailable($0) }
    case ChannelMessage.segment: return reader.readUInt8().map { .segment(slot: $0) }
    case ChannelMessage.picture:
      guard let saysColorSpace = reader.readBool(), let picture = SharedPicture(reading: &reader) else { return nil }
      return .picture(picture, saysColorSpace: saysColorSpace)
    case noPicture: return .nothing
    case someSound: return reader.readSamples().map { .sound($0) }
    case refusal: return readError(&reader).map { .refused($0) }
    default: return nil
    }
  }

  private static func readError(_ reader: inout ByteReader) -> VideoDecoderError? {
    switch reader.readUInt8() {
    case 0: return reader.readInt().map { .library(status: $0) }
    case 1: return reader.readText().map { .unsupportedPicture($0.foreignText()) }
    default: return nil
    }
  }
}
