internal import CFFmpeg
internal import RTCCodecFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// One stream of an open file, described. Its pointer is valid as long as the file it came from.
struct MediaStream {
  let stream: UnsafeMutablePointer<AVStream>
  let description: StreamDescription
  /// The duration of a picture where the container gives none; zero for sound.
  let frameDuration: TimeDelta

  var index: Int32 { stream.pointee.index }
  var parameters: UnsafeMutablePointer<AVCodecParameters> { stream.pointee.codecpar }
  var isPicture: Bool { parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO }

  init(_ stream: UnsafeMutablePointer<AVStream>) {
    self.stream = stream
    let parameters = stream.pointee.codecpar.pointee
    let isPicture = parameters.codec_type == AVMEDIA_TYPE_VIDEO
    let size = PixelSize(width: Int(parameters.width), height: Int(parameters.height))
    let orientation = isPicture ? Self.orientation(of: stream) : PictureOrientation()
    description = StreamDescription(
      codecName: String(cString: avcodec_get_name(parameters.codec_id)),
      extradata: Array(UnsafeBufferPointer(start: parameters.extradata, count: Int(max(0, parameters.extradata_size)))),
      profile: Int(parameters.profile), level: Int(parameters.level), size: size,
      squareSize: SampleAspect(parameters.sample_aspect_ratio, stream.pointee.sample_aspect_ratio).squareSize(of: size),
      rotation: orientation.rotation, isMirrored: orientation.isMirrored,
      colorSpace: PictureColor(matrix: parameters.color_space, range: parameters.color_range, height: size.height)
        .delivered,
      reorderDepth: Int(max(0, parameters.video_delay)),
      audio: AudioFormat(
        sampleRate: Int(parameters.sample_rate), channels: Int(parameters.ch_layout.nb_channels)))
    frameDuration = isPicture ? Self.frameDuration(of: stream.pointee) : .zero
  }

  /// The stream's entry in `FileContents`.
  var contents: FileContents.Stream {
    let format = SourceFormat(AVPixelFormat(rawValue: isPicture ? parameters.pointee.format : -1))
    return FileContents.Stream(
      description: description, frameDuration: frameDuration, frameRate: frameRate,
      pixelFormat: format.shared ?? (format.isRGB ? .bgra : .i420))
  }

  /// Pictures a second; 0 when it is not known.
  private var frameRate: Double {
    let rate = stream.pointee.avg_frame_rate
    guard rate.num > 0, rate.den > 0 else { return 0 }
    let told = Double(rate.num) / Double(rate.den)
    return FileContents.Stream.frameRates.contains(told) ? told : 0
  }

  /// The name of a transfer that goes beyond what screens show (ITU-R BT.2100); nil where the pictures have none.
  var highDynamicRange: String? {
    switch parameters.pointee.color_trc {
    case AVCOL_TRC_SMPTE2084: "PQ"
    case AVCOL_TRC_ARIB_STD_B67: "HLG"
    default: nil
    }
  }

  /// A time of the stream in nanoseconds; nil when it is none, or more than ten years from zero, as only a broken file has it.
  /// Files' times come in here alone: `PacketTiming` relies on the bound.
  func nanoseconds(_ time: Int64) -> Int64? {
    guard time != cffmpeg_no_timestamp else { return nil }
    let scaled = av_rescale_q(time, stream.pointee.time_base, .nanosecond)
    return (-PacketTiming.latestTime...PacketTiming.latestTime).contains(scaled) ? scaled : nil
  }

  /// The duration of a packet, in nanoseconds; 0 when the container gives none, or more than an hour.
  func duration(_ units: Int64) -> Int64 {
    guard units > 0, let duration = nanoseconds(units), duration <= PacketTiming.longestDuration else { return 0 }
    return duration
  }

  func units(_ nanoseconds: Int64) -> Int64 {
    av_rescale_q(nanoseconds, .nanosecond, stream.pointee.time_base)
  }

  private static func frameDuration(of stream: AVStream) -> TimeDelta {
    for rate in [stream.avg_frame_rate, stream.r_frame_rate] where rate.num > 0 && rate.den > 0 {
      let seconds = Double(rate.den) / Double(rate.num)
      if (0.001...10).contains(seconds) { return .seconds(seconds) }
    }
    return .milliseconds(40)
  }

  private static func orientation(of stream: UnsafeMutablePointer<AVStream>) -> PictureOrientation {
    var size = 0
    guard let data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size), size >= 36 else {
      return PictureOrientation()
    }
    return data.withMemoryRebound(to: Int32.self, capacity: 9) { PictureOrientation(displayMatrix: $0) }
  }
}

extension AVRational {
  static let nanosecond = AVRational(num: 1, den: 1_000_000_000)
}
