import RTCEngine
import RTCMedia
import RTCPlayout
import RTCPrimitives
import RTCWire

/// A clock that only moves when it is told to.
final class VirtualClock {
  var now = Timestamp.zero + .seconds(1_000)
}

/// A decoder of pictures that are but numbers: `[key, number high, number low]`. Like a real one it takes its time, refuses
/// what does not follow, and refuses everything then until a key frame.
final class NumberDecoder: VideoDecoder {
  let codec: VideoCodec
  private let clock: VirtualClock
  private let time: TimeDelta
  private var last: Int?

  init(_ codec: VideoCodec, clock: VirtualClock, time: TimeDelta) {
    (self.codec, self.clock, self.time) = (codec, clock, time)
  }

  func decode(_ data: [UInt8]) throws(VideoDecoderError) -> PixelBuffer? {
    clock.now += time
    guard data.count == 3 else {
      last = nil
      throw .library(status: -1)
    }
    let number = Int(data[1]) << 8 | Int(data[2])
    guard data[0] == 1 || last == number - 1 else {
      last = nil
      throw .library(status: -2)
    }
    last = number
    // The number is the picture's width.
    return PixelBuffer.allocate(format: .i420, size: PixelSize(width: number + 1, height: 1)) { _, _, _ in }
  }
}

/// A presenter on virtual time, what it has shown, and when it asked for key frames.
final class VirtualScreen {
  let clock = VirtualClock()
  var presenter: VideoPresenter
  private var decoder: FrameDecoder
  private(set) var shown: [(number: Int, time: Timestamp)] = []
  private(set) var requests: [Timestamp] = []
  private var arrivals: [(time: Timestamp, frame: ReceivedFrame)] = []

  init(decodeTime: TimeDelta = .milliseconds(4), codecs: [VideoCodec] = [.vp8, .vp9]) {
    let clock = clock
    nonisolated(unsafe) let shared = clock  // one thread
    var decoders: [VideoCodec: VideoDecoderFactory] = [:]
    for codec in codecs {
      let make: VideoDecoderFactory = { () throws(VideoDecoderError) in
        NumberDecoder(codec, clock: shared, time: decodeTime)
      }
      decoders[codec] = make
    }
    presenter = VideoPresenter(codecs: Set(codecs))
    decoder = FrameDecoder(decoders)
  }

  /// Lets a picture arrive after `seconds` of the test's time.
  func arrive(
    _ number: Int, at seconds: Double, sent: Double? = nil, key: Bool = false, codec: VideoCodec = .vp8,
    isDamaged: Bool = false, playoutDelay: PlayoutDelay? = nil
  ) {
    let time = Timestamp.zero + .seconds(1_000) + TimeDelta.seconds(seconds)
    var frame = ReceivedFrame(
      codec: codec, data: [key ? 1 : 0, UInt8(number >> 8), UInt8(number & 0xFF)] + (isDamaged ? [0] : []),
      isKeyFrame: key,
      timestamp: RTPTimestamp(4_294_000_000 &+ UInt32(((sent ?? seconds) * 90_000).rounded())), received: time)
    frame.playoutDelay = playoutDelay
    let place = arrivals.firstIndex { $0.time > time } ?? arrivals.endIndex
    arrivals.insert((time, frame), at: place)
  }

  /// Runs until nothing is left to do, or for so long.
  func run(seconds: Double = 600) {
    let end = Timestamp.zero + .seconds(1_000) + TimeDelta.seconds(seconds)
    while clock.now < end {
      while let first = arrivals.first, first.time <= clock.now { _ = presenter.insert(arrivals.removeFirst().frame) }
      switch presenter.step(clock.now) {
      case .decode(let frame, let isFirst):
        let began = clock.now
        let outcome = decoder.decode(frame, anew: isFirst)
        presenter.noteDecoded(frame, outcome, began: began, ended: clock.now)
      case .show(let frame, _): shown.append((frame.size.width - 1, clock.now))
      case .requestKeyFrame: requests.append(clock.now)
      case .wait(let moment):
        let next = min(moment, arrivals.first?.time ?? .distantFuture)
        guard next < end else { return }
        clock.now = max(clock.now, next)
      }
    }
  }

  var numbers: [Int] { shown.map(\.number) }

  /// In seconds of the test's time.
  func seconds(_ time: Timestamp) -> Double { (time - (.zero + .seconds(1_000))).seconds }
}
