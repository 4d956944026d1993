import RTCCaptureX11
import RTCDTLS
import RTCMedia
import RTCNet
import RTCPrimitives
import RTCSignaling
import RTCast
import Synchronization

/// Lists the monitors and windows of a display, and makes small pictures of them, on a thread of its own. It does nothing unless
/// it is asked. Any thread.
final class PickPictures: Sendable {
  private typealias Job = @Sendable (inout Studio) -> Void

  private struct State {
    var jobs: [Job] = []
    var allowance = EncodingAllowance(share: PickPictures.share)
    var isOpen = true
  }

  /// The thread's own memory.
  fileprivate struct Studio: ~Copyable {
    let reader: X11PictureReader
    var encoder = StillEncoder()
    var screens: (result: Result<X11Screens, CaptureError>, until: Timestamp)?
    var pictures: [PickedSource: Known] = [:]

    init(_ display: String?) { reader = X11PictureReader(display: display) }
  }

  fileprivate struct Known {
    var picture: StillPicture
    /// Names the pixels that the picture was made of.
    var pixels: [UInt8]
    var until: Timestamp
  }

  /// The share of one core's time for this work.
  private static let share = 0.25
  /// A list or picture is this old at most. Pages that ask more often get the same one.
  fileprivate static let age = TimeDelta.milliseconds(900)
  /// After this time without a request, windows are no longer drawn off-screen for their pictures.
  private static let idleTime = TimeDelta.seconds(10)
  fileprivate static let width = 320
  private static let mostJobs = 64

  private let state = Mutex(State())
  private let waiter = Waiter()

  /// - Parameter display: as in `--display`.
  init(display: String?) throws(SystemError) {
    _ = try NamedThread(name: "rtc-pick") { [weak self, waiter] in
      var studio = Studio(display)
      var deadline: Timestamp?
      repeat { waiter.wait(until: deadline) } while self?.serve(&studio, &deadline) ?? false
    }
  }

  deinit { waiter.ring() }

  /// Ends the thread.
  func stop() {
    state.withLock { $0.isOpen = false }
    waiter.ring()
  }

  /// The monitors and windows now.
  func screens() async -> Result<X11Screens, CaptureError> {
    await perform(otherwise: .failure(.unavailable("The cast has ended."))) { studio in studio.currentScreens() }
  }

  /// A small picture of a source; nil: it is not shown, or is gone.
  func picture(of source: PickedSource) async -> StillPicture? {
    await perform(otherwise: nil) { studio in studio.picture(of: source) }
  }

  private func perform<Value: Sendable>(
    otherwise lack: Value, _ body: @escaping @Sendable (inout Studio) -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      let isTaken = state.withLock { state in
        guard state.isOpen, state.jobs.count < Self.mostJobs else { return false }
        state.jobs.append { studio in continuation.resume(returning: body(&studio)) }
        return true
      }
      if isTaken { waiter.ring() } else { continuation.resume(returning: lack) }
    }
  }

  /// - Returns: false when the thread is no longer needed.
  private func serve(_ studio: inout Studio, _ deadline: inout Timestamp?) -> Bool {
    var didWork = false
    while true {
      let now = MonotonicClock.now()
      let (job, turn, isOpen) = state.withLock { state -> (Job?, Timestamp, Bool) in
        let turn = state.allowance.nextTurn
        // After the end, the jobs that are left are done, so that each has its answer.
        guard !state.jobs.isEmpty, turn <= now || !state.isOpen else { return (nil, turn, state.isOpen) }
        return (state.jobs.removeFirst(), turn, state.isOpen)
      }
      guard let job else {
        guard isOpen else { return false }
        if !didWork, turn <= now { studio.rest() }
        let isWaiting = state.withLock { !$0.jobs.isEmpty }
        deadline = isWaiting ? turn : didWork ? now + Self.idleTime : nil
        return true
      }
      job(&studio)
      didWork = true
      let end = MonotonicClock.now()
      state.withLock { $0.allowance.note(end - now, now: end) }
    }
  }
}

extension PickPictures.Studio {
  fileprivate mutating func currentScreens() -> Result<X11Screens, CaptureError> {
    let now = MonotonicClock.now()
    if let screens, now < screens.until { return screens.result }
    let display = reader.display
    let result = Result { () throws(CaptureError) in try X11Screens.list(display: display) }
    screens = (result, MonotonicClock.now() + PickPictures.age)
    return result
  }

  fileprivate mutating func picture(of source: PickedSource) -> StillPicture? {
    let now = MonotonicClock.now()
    let known = pictures[source]
    if let known, now < known.until { return known.picture }
    pictures = pictures.filter { now < $0.value.until + PickPictures.age * 10 }
    guard let frame = try? reader.picture(of: source.target),
      let small = encoder.shrink(frame, width: PickPictures.width)
    else { return nil }
    let until = MonotonicClock.now() + PickPictures.age
    let pixels = Self.digest(of: small)
    if var known, known.pixels == pixels {
      known.until = until
      pictures[source] = known
      return known.picture
    }
    guard let webP = encoder.webP(small, width: PickPictures.width) else { return nil }
    let picture = StillPicture(webP: webP, tag: Base64URL.encode(Array(pixels.prefix(9))))
    pictures[source] = PickPictures.Known(picture: picture, pixels: pixels, until: until)
    return picture
  }

  fileprivate mutating func rest() {
    reader.rest()
    encoder.reset()
  }

  private static func digest(of picture: PixelBuffer) -> [UInt8] {
    let bytes = picture.bytes(ofPlane: 0)
    var copy: [UInt8] = []
    copy.reserveCapacity(bytes.count)
    for index in bytes.indices { copy.append(bytes[index]) }
    return MessageAuthentication.sha256(copy)
  }
}
