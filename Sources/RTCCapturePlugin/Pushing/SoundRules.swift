import CRTCastPlugin
import RTCMedia

/// The requirements of `rtcast_plugin.h` for sound.
enum SoundRules {
  static let rates = 8_000...384_000
  static let channelCounts = 1...8

  /// The format and the samples, copied out of the plugin's memory.
  static func check(
    _ sound: rtcast_sound
  ) throws(PluginFault) -> (format: AudioFormat, samples: [Float], hasBadSamples: Bool) {
    guard unsafe sound.struct_size >= MemoryLayout<rtcast_sound>.size else { throw .structSize }
    let format = unsafe AudioFormat(sampleRate: Int(sound.sample_rate), channels: Int(sound.channels))
    guard rates.contains(format.sampleRate), channelCounts.contains(format.channels),
      unsafe sound.sample_count > 0, unsafe sound.sample_count <= sound.sample_rate
    else { throw .impossibleSound }
    guard let start = unsafe sound.samples else { throw .missingSamples }
    let count = unsafe Int(sound.sample_count) * format.channels
    switch unsafe Int(sound.format) {
    case RTCAST_S16: return unsafe (format, integers(start, count), false)
    case RTCAST_F32:
      let (samples, isBad) = unsafe floats(start, count)
      return (format, samples, isBad)
    default: throw .unknownSampleFormat
    }
  }

  /// Alignment is not demanded of a plugin.
  private static func integers(_ start: UnsafeRawPointer, _ count: Int) -> [Float] {
    unsafe [Float](unsafeUninitializedCapacity: count) { room, filled in
      for index in 0..<count {
        unsafe room[index] = unsafe Float(start.loadUnaligned(fromByteOffset: index * 2, as: Int16.self)) * (1 / 32768)
      }
      filled = count
    }
  }

  private static func floats(_ start: UnsafeRawPointer, _ count: Int) -> ([Float], isBad: Bool) {
    var isBad = false
    let samples = unsafe [Float](unsafeUninitializedCapacity: count) { room, filled in
      for index in 0..<count {
        let sample = unsafe start.loadUnaligned(fromByteOffset: index * 4, as: Float.self)
        if sample.isFinite {
          unsafe room[index] = max(-1, min(1, sample))
        } else {
          unsafe room[index] = 0
          isBad = true
        }
      }
      filled = count
    }
    return (samples, isBad)
  }
}
