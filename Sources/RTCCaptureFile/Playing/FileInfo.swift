internal import RTCMedia
internal import RTCPrimitives

/// The facts about an open file.
struct FileInfo: Sendable {
  var path: String
  var containerName: String
  var duration: TimeDelta?
  /// The format of the pictures; nil when the file has none.
  var videoFormat: VideoFormat?
  var videoCodec: String?
  /// The format of the sound; nil when the file has none, or none is wanted.
  var audioFormat: AudioFormat?
  var audioCodec: String?
  var encodedFormat: EncodedVideoFormat?
  var isOpus: Bool
  /// The reason why the pictures are not passed on as they are.
  var passthroughRefusal: String?
  /// A sentence for each part of the file that is not played as it is meant.
  var notices: [String]
}

extension FileInfo {
  init(_ contents: FileContents, path: String, encodedFormat: EncodedVideoFormat?, isOpus: Bool) {
    self.path = path
    containerName = contents.containerName
    duration = contents.duration
    videoFormat = contents.video.map {
      VideoFormat(
        size: $0.description.squareSize.turned($0.description.rotation),
        frameRates: 0...($0.frameRate > 0 ? $0.frameRate : 1000), pixelFormat: $0.pixelFormat)
    }
    videoCodec = contents.video?.description.codecName
    audioFormat = contents.audio.map { SoundConverter.format(of: $0.description.audio) }
    audioCodec = contents.audio?.description.codecName
    self.encodedFormat = encodedFormat
    self.isOpus = isOpus
    notices = contents.notices.map { $0.sentence(path) }
  }
}
