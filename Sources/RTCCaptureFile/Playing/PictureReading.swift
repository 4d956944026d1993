internal import CFFmpeg
internal import RTCCodecFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// Decodes a player's pictures and puts those that are to be shown where the delivery finds them. On the reader thread.
final class PictureReading {
  private let core: PlaybackCore
  private let seat: Int
  private let decoder: CodecContext
  private let maker: PictureMaker
  private let orientation: PictureOrientation
  private let aspect: AVRational
  private let frameDuration: TimeDelta
  /// Where the newest picture ends.
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

  private struct Wish {
    var floor: TimeDelta
    var interval: TimeDelta?
    /// How far the clock is.
    var media: TimeDelta
  }

  /// Nil when nothing can decode the stream.
  init?(_ stream: MediaStream, core: PlaybackCore, seat: Int) {
    guard let decoder = try? CodecContext(stream) else { return nil }
    self.core = core
    self.seat = seat
    self.decoder = decoder
    maker = PictureMaker(ledger: core.ledger)
    orientation = PictureOrientation(stream.description)
    aspect = stream.stream.pointee.sample_aspect_ratio
    frameDuration = stream.frameDuration
  }

  deinit { av_frame_free(&held) }

  func decode(_ work: PacketLog.Work) {
    if work.startsAnew { reset() }
    switch work.entry {
    case .packet(let packet):
      core.monitor.note { state, _ in state.video.sent += 1 }
      if case .open = lag {
        let isTimed = packet.payload.packet.pointee.pts != cffmpeg_no_timestamp
        lag = isTimed ? .known(.zero) : .since(packet.decodeTime)
      }
      decoder.send(packet.payload)
      collect()
    case .boundary(let floor, let isLast):
      decoder.send(nil)
      collect()
      let wanted = core.monitor.read { state, _ in state.video.floor }
      if isLast || wanted < floor { showHeld(wanted, .zero) }
      reset()
      core.monitor.change { state, _ in PlayerState.finishPass(&state.video, floor: floor) }
    }
  }

  func reset() {
    decoder.flush()
    av_frame_free(&held)
    expected = nil
    newest = nil
    nextAllowed = nil
    lag = .open
  }

  private func collect() {
    while let frame = decoder.receive() {
      core.monitor.spend(\.decoding, seat: seat)
      let wish = core.monitor.note { state, now in
        state.video.made += 1
        return Wish(
          floor: state.video.floor,
          interval: state.maximumFrameRate.map { .seconds(state.clock.speed / $0) },
          media: state.clock.media(at: now))
      }
      var time = place(frame)
      let duration = frame.pointee.pkt_duration > 0 ? TimeDelta(nanoseconds: frame.pointee.pkt_duration) : frameDuration
      expected = time + duration
      // Not on the way to a place: there the picture that is due must not be left out.
      decoder.setHurrying(time >= wish.floor && wish.media - time > .milliseconds(200))
      guard time + duration > wish.floor else {
        av_frame_free(&held)
        held = frame
        continue
      }
      if held != nil, time > wish.floor, isAllowed(wish.floor, wish.interval) {
        showHeld(wish.floor, time - wish.floor)
      }
      av_frame_free(&held)
      guard isAllowed(time, wish.interval) else {
        var owned: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&owned)
        continue
      }
      time = max(time, wish.floor)
      show(frame, time, duration)
    }
  }

  private func showHeld(_ time: TimeDelta, _ duration: TimeDelta) {
    guard let frame = held else { return }
    held = nil
    show(frame, time, duration)
  }

  /// Takes over `frame`.
  private func show(_ frame: UnsafeMutablePointer<AVFrame>, _ time: TimeDelta, _ duration: TimeDelta) {
    let (orientation, source) = (Self.orientation(of: frame) ?? orientation, frame.pointee)
    let size = PixelSize(width: Int(source.width), height: Int(source.height))
    let squareSize = SampleAspect(source.sample_aspect_ratio, aspect).squareSize(of: size)
    guard let (decoded, colorSpace) = maker.picture(of: frame, targetSize: squareSize) else { return }
    var buffer = decoded
    if source.interlaced_frame != 0 {
      buffer = buffer.deinterlaced(keepsEven: source.top_field_first != 0) ?? buffer
    }
    if orientation.isMirrored { buffer = buffer.mirrored() ?? buffer }
    let item = PictureItem(
      buffer: buffer, colorSpace: colorSpace, rotation: orientation.rotation, time: time, duration: duration)
    core.monitor.change { state, _ in
      // Even where decoding was switched off meanwhile.
      guard state.video.run != nil else { return }
      state.video.total += 1
      state.pictures.append(item)
    }
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

  /// What the frame itself says (Exif, H.264 SEI).
  private static func orientation(of frame: UnsafeMutablePointer<AVFrame>) -> PictureOrientation? {
    guard let side = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX), side.pointee.size >= 36 else {
      return nil
    }
    return side.pointee.data.withMemoryRebound(to: Int32.self, capacity: 9) { PictureOrientation(displayMatrix: $0) }
  }
}
