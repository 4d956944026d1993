import RTCIsolation
import RTCMedia
import RTCPrimitives

/// A message to a plugin's process.
package enum HostCommand {
  /// The first message: load this; and start it, unless it is only to be described.
  case load(path: String, start: Start?)
  /// One more picture may be sent.
  case pictureRoom
  /// The picture in this slot is not read any more.
  case release(slot: UInt8)
  /// The nanoseconds of sound that have left the queue.
  case soundRoom(Int64)
  case stop

  package struct Start {
    var options: [(key: String, value: String)]
    var wanted: PluginFormat
  }

  package var bytes: [UInt8] {
    switch self {
    case .load(let path, let start):
      var writer = MessageWriter(kind: 1)
      writer.write(path)
      writer.write(start != nil)
      if let start {
        start.wanted.write(to: &writer)
        writer.write(start.options.count)
        for option in start.options {
          writer.write(option.key)
          writer.write(option.value)
        }
      }
      return writer.bytes
    case .pictureRoom: return MessageWriter(kind: 2).bytes
    case .release(let slot):
      var writer = MessageWriter(kind: ChannelMessage.release)
      writer.write(slot)
      return writer.bytes
    case .soundRoom(let nanoseconds):
      var writer = MessageWriter(kind: 4)
      writer.write(nanoseconds)
      return writer.bytes
    case .stop: return MessageWriter(kind: 5).bytes
    }
  }

  package init?(parsing bytes: [UInt8]) {
    var reader = ByteReader(bytes.span)
    switch reader.readUInt8() {
    case 1:
      guard let path = reader.readText(), let isStarting = reader.readBool() else { return nil }
      var start: Start?
      if isStarting {
        guard let wanted = PluginFormat(reading: &reader), let count = reader.readInt(), (0...1000).contains(count)
        else {
          return nil
        }
        var options: [(key: String, value: String)] = []
        for _ in 0..<count {
          guard let key = reader.readText(), let value = reader.readText() else { return nil }
          options.append((key, value))
        }
        start = Start(options: options, wanted: wanted)
      }
      self = .load(path: path, start: start)
    case 2: self = .pictureRoom
    case ChannelMessage.release:
      guard let slot = reader.readUInt8() else { return nil }
      self = .release(slot: slot)
    case 4:
      guard let nanoseconds = reader.readInt64() else { return nil }
      self = .soundRoom(nanoseconds)
    case 5: self = .stop
    default: return nil
    }
  }
}

extension PluginFormat {
  func write(to writer: inout MessageWriter) {
    writer.write(size?.width ?? 0)
    writer.write(size?.height ?? 0)
    writer.write(frameRate)
    writer.write(sound.sampleRate)
    writer.write(sound.channels)
  }

  init?(reading reader: inout ByteReader) {
    guard let width = reader.readInt(), let height = reader.readInt(), let frameRate = reader.readDouble(),
      let sampleRate = reader.readInt(), let channels = reader.readInt(), frameRate.isFinite, frameRate > 0,
      SoundRules.rates.contains(sampleRate), SoundRules.channelCounts.contains(channels)
    else { return nil }
    let isKnown = PictureRules.sides.contains(width) && PictureRules.sides.contains(height)
    self.init(
      size: isKnown ? PixelSize(width: width, height: height) : nil, frameRate: frameRate,
      sound: AudioFormat(sampleRate: sampleRate, channels: channels))
  }
}
