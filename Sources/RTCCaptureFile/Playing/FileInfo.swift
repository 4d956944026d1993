internal import RTCCodecFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// What is known of a file once it is open.
struct FileInfo: Sendable {
  var path: String
  var containerName: String
  var duration: TimeDelta?
  /// Nil when the file has no pictures.
  var videoFormat: VideoFormat?
  var videoCodec: String?
  /// Nil when it has no sound, or none is wanted.
  var audioFormat: AudioFormat?
  var audioCodec: String?
  var encodedFormat: EncodedVideoFormat?
  var isOpus: Bool
  /// Why the pictures are not handed on as they are.
  var passthroughRefusal: String?
  /// A sentence for each part of the file that is not played as it is meant.
  var notices: [String]
}

extension FileInfo {
  init(_ file: MediaFile, encodedFormat: EncodedVideoFormat?, isOpus: Bool) {
    path = file.path
    containerName = file.containerName
    duration = file.duration
    videoFormat = file.video.map {
      let rate = $0.frameRate
      let format = SourceFormat(.init(rawValue: $0.parameters.pointee.format))
      return VideoFormat(
        size: $0.description.squareSize.turned($0.description.rotation), frameRates: 0...(rate > 0 ? rate : 1000),
        pixelFormat: format.shared ?? (format.isRGB ? .bgra : .i420))
    }
    videoCodec = file.video?.description.codecName
    audioFormat = file.audio.map { SoundConverter.format(of: $0.description.audio) }
    audioCodec = file.audio?.description.codecName
    self.encodedFormat = encodedFormat
    self.isOpus = isOpus
    notices = file.notices
  }
}
