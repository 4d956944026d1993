package import RTCIsolation
package import RTCMedia
import RTCPrimitives

/// A message of a plugin's process. It is not trusted: invalid messages are nil.
package enum HostEvent {
  case described(PluginDescription)
  case started(PluginFormat)
  /// The plugin could not be loaded or started.
  case failed(CaptureError)
  /// Shared memory for `slot`, replacing the former; with its descriptor.
  case segment(slot: UInt8)
  case picture(SharedPicture)
  case sound(AudioFrame)
  case notice(String)
  case fault(PluginFault)
  /// The number of pushes that had to wait.
  case busy(UInt64)
  case ended(CaptureEnd)

  package var bytes: [UInt8] {
    switch self {
    case .described(let description): return description.message(kind: 1)
    case .started(let format):
      var writer = MessageWriter(kind: 2)
      format.write(to: &writer)
      return writer.bytes
    case .failed(let error):
      var writer = MessageWriter(kind: 3)
      writer.write(error.number)
      writer.write(error.sentence)
      return writer.bytes
    case .segment(let slot): return one(ChannelMessage.segment, slot)
    case .picture(let picture):
      var writer = MessageWriter(kind: ChannelMessage.picture)
      picture.write(to: &writer)
      return writer.bytes
    case .sound(let sound):
      var writer = MessageWriter(kind: 6)
      writer.write(sound.format.sampleRate)
      writer.write(sound.format.channels)
      writer.write(sound.captureTime.nanoseconds)
      writer.write(sound.samples)
      return writer.bytes
    case .notice(let text):
      var writer = MessageWriter(kind: 7)
      writer.write(text)
      return writer.bytes
    case .fault(let fault): return one(8, fault.rawValue)
    case .busy(let count):
      var writer = MessageWriter(kind: 9)
      writer.write(count)
      return writer.bytes
    case .ended(let reason):
      var writer = MessageWriter(kind: 10)
      if case .lost(let sentence) = reason {
        writer.write(true)
        writer.write(sentence)
      } else {
        writer.write(false)
      }
      return writer.bytes
    }
  }

  private func one(_ kind: UInt8, _ value: UInt8) -> [UInt8] {
    var writer = MessageWriter(kind: kind)
    writer.write(value)
    return writer.bytes
  }

  package init?(parsing bytes: [UInt8]) {
    var reader = ByteReader(bytes.span)
    guard let kind = reader.readUInt8(), let event = Self.read(kind, &reader) else { return nil }
    self = event
  }

  private static func read(_ kind: UInt8, _ reader: inout ByteReader) -> HostEvent? {
    switch kind {
    case 1: return PluginDescription(reading: &reader).map { .described($0) }
    case 2: return PluginFormat(reading: &reader).map { .started($0) }
    case 3:
      guard let number = reader.readUInt8(), let text = reader.readText() else { return nil }
      return CaptureError(number: number, sentence: text).map { .failed($0) }
    case ChannelMessage.segment: return reader.readUInt8().map { .segment(slot: $0) }
    case ChannelMessage.picture: return SharedPicture(reading: &reader).map { .picture($0) }
    case 6: return readSound(&reader).map { .sound($0) }
    case 7: return reader.readText().map { .notice($0) }
    case 8: return reader.readUInt8().flatMap { PluginFault(rawValue: $0) }.map { .fault($0) }
    case 9: return reader.readUInt64().map { .busy($0) }
    case 10:
      guard let isLost = reader.readBool() else { return nil }
      guard isLost else { return .ended(.finished) }
      return reader.readText().map { .ended(.lost($0)) }
    default: return nil
    }
  }

  private static func readSound(_ reader: inout ByteReader) -> AudioFrame? {
    guard let sampleRate = reader.readInt(), let channels = reader.readInt(), let time = reader.readInt64(),
      let samples = reader.readSamples(), SoundRules.rates.contains(sampleRate),
      SoundRules.channelCounts.contains(channels), samples.count % channels == 0
    else { return nil }
    return AudioFrame(
      format: AudioFormat(sampleRate: sampleRate, channels: channels), samples: samples,
      captureTime: Timestamp(nanoseconds: time))
  }
}

extension PluginDescription {
  fileprivate func message(kind: UInt8) -> [UInt8] {
    var writer = MessageWriter(kind: kind)
    writer.write(name)
    writer.write(summary)
    writer.write(optionsHelp)
    writer.write(hasPictures)
    writer.write(hasSound)
    writer.write(isScreencast)
    writer.write(size?.width ?? 0)
    writer.write(size?.height ?? 0)
    writer.write(frameRate ?? 0)
    return writer.bytes
  }

  fileprivate init?(reading reader: inout ByteReader) {
    guard let name = reader.readText(), let summary = reader.readText(), let help = reader.readText(),
      let hasPictures = reader.readBool(), let hasSound = reader.readBool(), let isScreencast = reader.readBool(),
      let width = reader.readInt(), let height = reader.readInt(), let rate = reader.readDouble()
    else { return nil }
    let isKnown = PictureRules.sides.contains(width) && PictureRules.sides.contains(height)
    self.init(
      name: name, summary: summary, optionsHelp: help, hasPictures: hasPictures, hasSound: hasSound,
      isScreencast: isScreencast, size: isKnown ? PixelSize(width: width, height: height) : nil,
      frameRate: rate.isFinite && rate > 0 && rate <= 1000 ? rate : nil)
  }
}

extension CaptureError {
  fileprivate var number: UInt8 {
    switch self {
    case .alreadyStarted: 0
    case .noSuchSource: 1
    case .unavailable: 2
    case .unsupportedFormat: 3
    case .notPermitted: 4
    }
  }

  fileprivate init?(number: UInt8, sentence: String) {
    switch number {
    case 1: self = .noSuchSource(sentence)
    case 2: self = .unavailable(sentence)
    case 3: self = .unsupportedFormat(sentence)
    case 4: self = .notPermitted(sentence)
    default: return nil
    }
  }
}
