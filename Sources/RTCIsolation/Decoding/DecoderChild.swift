import Glibc
package import RTCMedia
import RTCNet
package import RTCPrimitives

/// A process that decodes one video, as its parent has it. It is not trusted: a message that makes no sense ends it. Used by
/// one thread; pictures may be released on any.
package final class DecoderChild {
  /// The answer to a coded picture.
  package enum Answer {
    case picture(PixelBuffer, ColorSpace?)
    case nothing
    case refused(VideoDecoderError)
  }

  /// The most bytes of one piece of shared memory: an 8K picture of full colour with a decoder's margins, and room.
  package static let largestSegment: Int64 = 192 << 20
  /// The most bytes of shared memory of one decoder in all.
  private static let mostShared = 768 << 20
  private static let mostPixels = 7_680 * 4_320
  /// The most messages between two answers: one more than there are slots.
  private static let mostMessages = SharedDecoderMemory.slotCount + 1

  private let child: UntrustedChild
  private var room: [UInt8] = []
  private var head: [UInt8] = []

  /// Creates a decoder from a process that was started; it owns the process.
  package init(_ child: ChildProcess) {
    self.child = UntrustedChild(
      child, segments: SharedSegments(largest: Self.largestSegment, most: Self.mostShared))
  }

  /// Has the process make a decoder; the first call.
  package func open(
    _ codec: VideoCodec, patience: TimeDelta
  ) throws(UntrustedChild.Loss) -> Result<Confinement, VideoDecoderError> {
    setPatience(patience)
    try send(opening: DecoderCommand.openingBytes(codec))
    return try whenOpen(waits: true)!
  }

  /// Has the process make a decoder of sound; the first call. Does not wait: ask `whenOpen`.
  package func openSound(channels: Int) throws(UntrustedChild.Loss) {
    try send(opening: DecoderCommand.openingBytes(channels: channels))
  }

  private func send(opening: [UInt8]) throws(UntrustedChild.Loss) {
    guard child.socket.send(opening, isPatient: true) else { throw child.lost(.end) }
  }

  /// The process's answer when its decoder was created.
  /// - Parameter waits: with false, nil where no answer is there yet.
  package func whenOpen(waits: Bool) throws(UntrustedChild.Loss) -> Result<Confinement, VideoDecoderError>? {
    while let event = try next(waits: waits) {
      switch event {
      case .ready(let confinement): return .success(confinement)
      case .unavailable(let error): return .failure(error)
      // The decoder's first memory.
      case .segment: continue
      default: throw child.lost(nil)
      }
    }
    return nil
  }

  /// Sets how long each message is awaited from now on. The number of messages for a picture is limited.
  package func setPatience(_ patience: TimeDelta) { child.socket.setPatience(patience) }

  /// Decodes one picture. Waits until it is done.
  package func decode(_ data: [UInt8]) throws(UntrustedChild.Loss) -> Answer {
    try send(data)
    while let event = try next(waits: true) {
      switch event {
      case .segment: continue
      case .picture(let picture, let saysColorSpace):
        guard let buffer = child.segments.buffer(of: picture, mostPixels: Self.mostPixels) else {
          throw child.lost(nil)
        }
        return .picture(buffer, saysColorSpace ? picture.colorSpace : nil)
      case .nothing: return .nothing
      case .refused(let error): return .refused(error)
      case .ready, .unavailable, .sound: throw child.lost(nil)
      }
    }
    throw child.lost(.silence)
  }

  /// The answer to a request for sound.
  package enum SoundAnswer {
    case sound([Float])
    case refused(VideoDecoderError)
    /// The answer comes later, and is skipped then.
    case late
  }

  /// Requests sound, and waits for it no longer than `setPatience` says: the sound of other peers must not wait for it.
  package func sound(
    _ request: DecoderCommand.SoundRequest, sampleCount: Int, of packet: [UInt8]
  ) throws(UntrustedChild.Loss) -> SoundAnswer {
    messages = 0
    // Answers that came too late.
    while let since = lateSince, try nextSound(waits: false) != nil { lateSince = lateAnswers > 0 ? since : nil }
    if let lateSince {
      guard MonotonicClock.now() - lateSince < Self.longestSilence else { throw child.lost(.silence) }
      return .late
    }
    guard packet.count <= DecoderCommand.mostPayload else { return .refused(.library(status: 0)) }
    let head = DecoderCommand.soundHead(request, sampleCount: sampleCount)
    if let failure = child.socket.send(head, followedBy: packet.span) { throw child.lost(failure) }
    lateAnswers += 1
    guard let answer = try nextSound(waits: true) else {
      lateSince = MonotonicClock.now()
      return .late
    }
    return answer
  }

  /// The time since which answers to requests for sound are missing; and below, how many are missing.
  private var lateSince: Timestamp?
  private var lateAnswers = 0
  /// The time without an answer after which a process is ended.
  private static let longestSilence = TimeDelta.seconds(2)

  private func nextSound(waits: Bool) throws(UntrustedChild.Loss) -> SoundAnswer? {
    guard let event = try next(waits: waits, mayBeLate: true) else { return nil }
    lateAnswers -= 1
    switch event {
    case .sound(let samples): return .sound(samples)
    case .refused(let error): return .refused(error)
    case .ready, .unavailable, .segment, .picture, .nothing: throw child.lost(nil)
    }
  }

  private func send(_ data: [UInt8]) throws(UntrustedChild.Loss) {
    messages = 0
    var start = 0
    var released = child.segments.takeReleased()
    repeat {
      let end = min(data.count, start + DecoderCommand.mostPayload)
      DecoderCommand.writeHead(&head, isLast: end == data.count, released: released)
      released = 0
      if let failure = child.socket.send(head, followedBy: data.span.extracting(start..<end)) {
        throw child.lost(failure)
      }
      start = end
    } while start < data.count
  }

  /// The number of messages since the last coded picture.
  private var messages = 0

  /// The next message; shared memory is mapped before it returns. Nil where no message is there and that is no loss.
  private func next(waits: Bool, mayBeLate: Bool = false) throws(UntrustedChild.Loss) -> DecoderEvent? {
    let arrival = child.socket.receiveBytes(into: &room, waits: waits)
    if case .silence = arrival, !waits || mayBeLate { return nil }
    guard case .message(let count, let descriptor) = arrival else { throw child.lost(arrival) }
    defer { if let descriptor { close(descriptor) } }
    messages += 1
    guard messages <= Self.mostMessages, let event = DecoderEvent(parsing: room.span.extracting(first: count)) else {
      throw child.lost(nil)
    }
    if case .segment(let slot) = event {
      guard let descriptor, child.segments.map(descriptor, as: Int(slot)) else { throw child.lost(nil) }
    }
    return event
  }
}
