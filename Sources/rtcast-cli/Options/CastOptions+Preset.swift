import ArgumentParser
import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCast

/// What holds in the end: an option that was given, else what the preset says, else the default.
extension CastOptions {
  var codec: VideoCodec { codecFlag ?? preset?.codec ?? .vp8 }

  var contentHint: ContentHint? { contentHintFlag ?? preset?.contentHint }

  /// A preset's choice was parsed when the preset was taken.
  var audio: AudioChoice? { audioFlag ?? preset?.audioSource.flatMap { try? AudioChoice(parsing: $0) } }

  /// The bitrate bounds of each viewer's picture.
  var bitrateLimits: BitrateLimits {
    bitrate.map { bitrateLimits($0) } ?? preset?.video ?? .defaultForVideo
  }

  /// The same with this rate at first and at most.
  func bitrateLimits(_ bitrate: BitRate) -> BitrateLimits {
    var limits = preset?.video ?? .defaultForVideo
    limits.minimum = min(limits.minimum, bitrate)
    limits.maximum = bitrate
    limits.start = bitrate  // who names a rate knows the network
    return limits
  }

  func frameRate(_ flag: FrameRate?, otherwise standard: FrameRate) -> Double {
    flag?.value ?? preset?.frameRate ?? standard.value
  }

  /// Nil: as large as they come.
  func largestPicture(_ flag: PictureSize?) -> PixelSize? { flag?.size ?? preset?.size }

  static func preset(_ nameOrPath: String) throws -> Preset {
    let preset: Preset
    do throws(PresetError) { preset = try Preset.find(nameOrPath) } catch { throw ValidationError(error.sentence) }
    if let choice = preset.audioSource {
      do { _ = try AudioChoice(parsing: choice) } catch {
        throw ValidationError("In the preset \(nameOrPath): audioSource '\(choice)' is refused: \(error)")
      }
    }
    return preset
  }
}
