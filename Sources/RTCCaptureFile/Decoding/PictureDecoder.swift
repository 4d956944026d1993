internal import CFFmpeg
internal import RTCCodecFFmpeg
internal import RTCMedia
package import RTCPrimitives

/// Decodes a stream of pictures and decides which of them are shown, and when. Used by one thread.
final class PictureDecoder {
  private let decoder: CodecContext
  private let maker: PictureMaker
  private let orientation: PictureOrientation
  private let aspect: AVRational
  private let frameDuration: TimeDelta
  /// The end of the newest picture.
  private var expected: TimeDelta?
  private var newest: TimeDelta?
  /// Pictures before it are too many for the highest rate.
  private var nextAllowed: TimeDelta?
  private var lag = Lag.open
  /// The newest picture before the place from where on they are wanted. It is what is to be seen there until the next, however
  /// long the container says that it lasts.
  private var held: UnsafeMutablePointer<AVFrame>?

  /// Containers that know only when a picture is decoded (AVI): FFmpeg gives each picture the time of the packet that
  /// pushed it out of the decoder. By so much they are all late, and behind their sound, as the first one is.
  private enum Lag {
    /// Nothing was sent yet.
    case open
    /// The first packet, at this time, says nothing of when it is shown.
    case since(TimeDelta)
    case known(TimeDelta)
  }

  /// Nil when nothing can decode the stream.
  /// - Parameters:
  ///   - counters: count the pictures.
  ///   - memory: where they are put, as far as the codec allows; nil: memory of FFmpeg's own.
  init?(_ stream: MediaStream, counters: PictureCounters, memory: (any DecoderMemory)?) {
    guard let decoder = try? CodecContext(stream, memory: memory) else { return nil }
    self.decoder = decoder
    maker = PictureMaker(counters: counters, memory: memory ?? OwnDecoderMemory())
    orientation = PictureOrientation(stream.description)
    aspect = stream.stream.pointee.sample_aspect_ratio
    frameDuration = stream.frameDuration
  }

  deinit { av_frame_free(&held) }

  /// - Parameter decodeTime: when the packet is decoded, on the media timeline.
  func decode(_ packet: PacketPayload, at decodeTime: TimeDelta, _ selection: PictureSelection) -> DecodedPictures {
    if case .open = lag { lag = packet.stamp.pts != nil ? .known(.zero) : .since(decodeTime) }
    decoder.setHurrying(selection.isLate)
    decoder.send(packet)
    return collect(selection)
  }

  func finish(_ selection: PictureSelection, showsHeld: Bool) -> DecodedPictures {
    decoder.send(nil)
    var made = collect(selection)
    if showsHeld, let item = takeHeld(selection.floor, .zero) { made.items.append(item) }
    reset()
    return made
  }

  func reset() {
    decoder.flush()
    av_frame_free(&held)
    expected = nil
    newest = nil
    nextAllowed = nil
    lag = .open
  }

  private func collect(_ selection: PictureSelection) -> DecodedPictures {
    var made = DecodedPictures()
    while let frame = decoder.receive() {
      made.made += 1
      let time = place(frame)
      made.newest = time
      let duration = frame.pointee.pkt_duration > 0 ? TimeDelta(nanoseconds: frame.pointee.pkt_duration) : frameDuration
      expected = time + duration
      guard time + duration > selection.floor else {
        av_frame_free(&held)
        held = frame
        continue
      }
      if held != nil, time > selection.floor, isAllowed(selection.floor, selection.interval),
        let item = takeHeld(selection.floor, time - selection.floor)
      {
        made.items.append(item)
      }
      av_frame_free(&held)
      guard isAllowed(time, selection.interval) else {
        var owned: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&owned)
        continue
      }
      if let item = item(frame, max(time, selection.floor), duration) { made.items.append(item) }
    }
    return made
  }

  private func takeHeld(_ time: TimeDelta, _ duration: TimeDelta) -> PictureItem? {
    guard let frame = held else { return nil }
    held = nil
    return item(frame, time, duration)
  }

  /// Takes over `frame`.
  private func item(_ frame: UnsafeMutablePointer<AVFrame>, _ time: TimeDelta, _ duration: TimeDelta) -> PictureItem? {
    let (orientation, source) = (Self.orientation(of: frame) ?? orientation, frame.pointee)
    let size = PixelSize(width: Int(source.width), height: Int(source.height))
    let squareSize = SampleAspect(source.sample_aspect_ratio, aspect).squareSize(of: size)
    guard let (decoded, colorSpace) = maker.picture(of: frame, targetSize: squareSize) else { return nil }
    var buffer = decoded
    if source.interlaced_frame != 0 {
      buffer = buffer.deinterlaced(keepsEven: source.top_field_first != 0) ?? buffer
    }
    if orientation.isMirrored { buffer = buffer.mirrored() ?? buffer }
    return PictureItem(
      buffer: buffer, colorSpace: colorSpace, rotation: orientation.rotation, time: time, duration: duration)
  }

  /// The file's own time; pictures without one, or with one that goes back, follow the one before.
  private func place(_ frame: UnsafeMutablePointer<AVFrame>) -> TimeDelta {
    let told = frame.pointee.best_effort_timestamp
    var time =
      told == cffmpeg_no_timestamp ? expected ?? .zero : TimeDelta(nanoseconds: told) - lag(of: .nanoseconds(told))
    if let newest, time <= newest { time = expected ?? newest }
    newest = time
    return time
  }

  private func lag(of told: TimeDelta) -> TimeDelta {
    switch lag {
    case .open: return .zero
    case .known(let lag): return lag
    case .since(let first):
      let longest = frameDuration * Int64(decoder.reorderDepth)
      let lag = max(.zero, min(told - first, longest))
      self.lag = .known(lag)
      return lag
    }
  }

  /// Keeps the rate in the long run; a picture may be a little early, so that rates that are nearly equal pass.
  private func isAllowed(_ time: TimeDelta, _ interval: TimeDelta?) -> Bool {
    guard let interval else { return true }
    guard let next = nextAllowed else {
      nextAllowed = time + interval
      return true
    }
    guard time + interval / 8 >= next else { return false }
    nextAllowed = time - next > interval ? time + interval : next + interval
    return true
  }

  /// The orientation that the frame itself carries (Exif, H.264 SEI).
  private static func orientation(of frame: UnsafeMutablePointer<AVFrame>) -> PictureOrientation? {
    guard let side = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX), side.pointee.size >= 36 else {
      return nil
    }
    return side.pointee.data.withMemoryRebound(to: Int32.self, capacity: 9) { PictureOrientation(displayMatrix: $0) }
  }
}

/// Which pictures are wanted of a decoder.
package struct PictureSelection: Hashable, Sendable {
  /// Pictures that are over by then are not shown.
  package var floor: TimeDelta
  /// Pictures come no faster than this; nil: as fast as they are.
  package var interval: TimeDelta?
  /// There is more to decode than time.
  package var isLate: Bool

  package init(floor: TimeDelta, interval: TimeDelta?, isLate: Bool) {
    (self.floor, self.interval, self.isLate) = (floor, interval, isLate)
  }
}

/// The output of a picture decoder.
struct DecodedPictures {
  /// The pictures to show, in order.
  var items: [PictureItem] = []
  /// The number of frames that the decoder produced, shown or not.
  var made = 0
  /// The media time of the newest of these frames.
  var newest: TimeDelta?
}
