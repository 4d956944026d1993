import CRTCastPlugin
import Glibc
import RTCCapture
import RTCMedia
import RTCNet
import RTCPrimitives
import Synchronization

/// The host's side of one started plugin: takes its pushes, enforces the rules, and tracks the holder of each buffer.
/// Any thread.
final class PluginInlet: Sendable {
  /// Pictures of a plugin's own, and buffers lent to it, that may be out at a time.
  static let loanLimit = 4

  private enum Phase {
    case running
    /// Nothing is accepted; buffers are still returned.
    case halted
    /// The plugin's `stop` has returned.
    case stopped
  }

  private enum Holder {
    case nobody
    case plugin
    case host
  }

  private struct LentBuffer {
    var number: UInt64
    var memory: PluginMemory
    var holder: Holder
  }

  private struct State {
    var phase = Phase.running
    /// Pictures that are being offered to the sink at this moment.
    var offers = 0
    /// Pictures that the host has: pushed, and not yet released.
    var loans = 0
    var ownLoans = 0
    var buffers: [LentBuffer] = []
    var lastNumber: UInt64 = 0
    var pictureClock = PictureClock()
    var soundClock = SoundClock()
    var pacing: PicturePacing
    /// Goes up whenever waiting pushes should look again.
    var room: UInt64 = 0
    /// Called once the last loan is back.
    var whenIdle: (@Sendable () -> Void)?
    var failure: String?

    mutating func lend(_ index: Int) -> (number: UInt64, memory: PluginMemory) {
      lastNumber += 1
      buffers[index].number = lastNumber
      buffers[index].holder = .plugin
      return (lastNumber, buffers[index].memory)
    }
  }

  private enum Attempt {
    case done(Int)
    case busy(until: Timestamp?, room: UInt64)
  }

  private let state: Monitor<State>
  private let sink: any PluginSink
  private let description: PluginDescription

  init(_ description: PluginDescription, frameRate: Double, sink: any PluginSink) {
    self.description = description
    self.sink = sink
    state = Monitor(State(pacing: PicturePacing(frameRate: frameRate)))
  }

  /// The sink has room again.
  func noteRoom() { state.change { $0.room &+= 1 } }

  /// Takes nothing from now on; pushes that wait return.
  func close() { state.change { $0.phase = .halted } }

  /// Calls `body` when all buffers are returned: now, or later on a thread of its own. Once, after `close`.
  func whenIdle(_ body: @escaping @Sendable () -> Void) {
    // Offers are a matter of microseconds, and most end here: with nothing on loan, all is over when this returns.
    _ = state.wait(until: MonotonicClock.now() + .seconds(1)) { $0.offers == 0 ? true : nil }
    let isIdle = state.withLock { state in
      if state.loans > 0 { state.whenIdle = body }
      return state.loans == 0
    }
    if isIdle { body() }
  }

  func noteStopped() { state.change { $0.phase = .stopped } }

  /// The plugin's last report of its failure.
  var failure: String? { state.withLock { $0.failure } }

  func refuse(_ fault: PluginFault) -> Int32 {
    sink.note(fault)
    return Int32(RTCAST_REFUSED)
  }

  func hear(_ about: UInt32, _ text: String?) {
    guard state.withLock({ $0.phase == .running }) else { return }
    switch Int(about) {
    case RTCAST_SAY_NOTICE: if let text { sink.tell("\(description.name): \(text)") }
    case RTCAST_SAY_FINISHED: sink.end(.finished)
    case RTCAST_SAY_FAILED:
      let text = text ?? "it gives no reason"
      state.withLock { $0.failure = text }
      sink.end(.lost("The plugin \(description.name) failed: \(text)"))
    default: break
    }
  }

  // MARK: - Pictures

  func push(_ raw: rtcast_picture) -> Int32 {
    if let status = statusWhenOver { return status }
    guard description.hasPictures else { return refuse(.undeclaredPictures) }
    if unsafe Int(raw.flags) & RTCAST_PICTURE_DISCARD != 0 { return unsafe giveBack(raw.buffer) }
    let picture: CheckedPicture
    do throws(PluginFault) { picture = unsafe try PictureRules.check(raw) } catch { return refuse(error) }
    if picture.hasBadDamage { sink.note(.damageOutside) }
    return unsafe persist(raw.wait_ns) { now in unsafe attempt(raw, picture, now) }
  }

  private enum Admission {
    case status(Int)
    case busy(until: Timestamp?, room: UInt64)
    case fault(PluginFault)
    case admitted(PluginMemory?, at: Timestamp, PluginFault?, before: PicturePacing)
  }

  private func admit(_ raw: rtcast_picture, _ picture: CheckedPicture, _ now: Timestamp) -> Admission {
    state.withLock { state in
      guard state.phase == .running else { return .status(RTCAST_STOPPED) }
      var index: Int?
      if unsafe raw.buffer != 0 {
        index = state.buffers.firstIndex { unsafe $0.number == raw.buffer && $0.holder == .plugin }
        guard let index else { return .fault(.unknownBuffer) }
        guard picture.lies(in: state.buffers[index].memory) else { return .fault(.notTheBorrowedPlanes) }
      } else if state.ownLoans >= Self.loanLimit {
        return .busy(until: nil, room: state.room)
      }
      if let opening = state.pacing.opening(now: now) { return .busy(until: opening, room: state.room) }
      let (time, fault) = unsafe state.pictureClock.time(raw.time_ns, now: now)
      let before = state.pacing
      state.pacing.note(at: now)
      state.loans += 1
      state.offers += 1
      if let index { state.buffers[index].holder = .host } else { state.ownLoans += 1 }
      return .admitted(index.map { state.buffers[$0].memory }, at: time, fault, before: before)
    }
  }

  private func attempt(_ raw: rtcast_picture, _ picture: CheckedPicture, _ now: Timestamp) -> Attempt {
    let room = state.withLock { $0.room }
    switch unsafe admit(raw, picture, now) {
    case .status(let status): return .done(status)
    case .busy(let opening, let room): return .busy(until: opening, room: room)
    case .fault(let fault): return .done(Int(refuse(fault)))
    case .admitted(let memory, let time, let fault, let pacing):
      switch unsafe offer(picture, at: time, memory: memory, Loan(raw)) {
      case .taken:
        state.change {
          $0.pictureClock.note(time)
          $0.offers -= 1
        }
        if let fault { sink.note(fault) }
        return .done(RTCAST_OK)
      case let refusal:
        unsafe loanIsOver(raw.buffer, nextHolder: .plugin) {
          $0.pacing = pacing
          $0.offers -= 1
        }
        if case .busy = refusal { return .busy(until: nil, room: room) }
        return .done(RTCAST_STOPPED)
      }
    }
  }

  /// The lease made here is gone when this returns, so that the loan's end depends on nobody but the consumer.
  private func offer(
    _ picture: CheckedPicture, at time: Timestamp, memory: PluginMemory?, _ loan: Loan
  ) -> PushResult {
    guard let frame = frame(picture, at: time, loan: loan) else { return .stopped }
    let result = sink.offer(frame, memory: memory)
    if case .taken = result { return .taken }
    // The frame has no other lease; without its loan, its end does not concern the plugin.
    loan.disarm()
    withExtendedLifetime(frame) {}
    return result
  }

  private func frame(_ picture: CheckedPicture, at time: Timestamp, loan: Loan) -> VideoFrame? {
    // The plugin's promise is that the planes are valid and unchanging until its `release` is called.
    let buffer = unsafe PixelBuffer(format: picture.format, size: picture.size, planes: picture.planes) { [self] in
      guard loan.isArmed else { return }
      loan.release()
      loanIsOver(loan.buffer, nextHolder: .nobody) { _ in }
    }
    return buffer.map {
      VideoFrame(
        buffer: $0, captureTime: time, rotation: picture.rotation, damage: picture.damage,
        colorSpace: picture.colorSpace)
    }
  }

  /// A picture was released (its buffer is free), or was not taken (it is the plugin's again).
  private func loanIsOver(_ number: UInt64, nextHolder: Holder, _ undo: (inout State) -> Void) {
    let whenIdle = state.change { state -> (@Sendable () -> Void)? in
      state.loans -= 1
      // A refused push did not free room: a waiting plugin would otherwise try again at once, without end.
      if case .nobody = nextHolder { state.room &+= 1 }
      if number == 0 { state.ownLoans -= 1 }
      if let index = state.buffers.firstIndex(where: { $0.number == number }) {
        state.buffers[index].holder = nextHolder
      }
      undo(&state)
      guard state.loans == 0 else { return nil }
      defer { state.whenIdle = nil }
      return state.whenIdle
    }
    // Not on this thread, which may be an encoder's: the plugin's `stop` may take its time.
    guard let whenIdle else { return }
    do throws(SystemError) {
      _ = try NamedThread(name: "rtc-plugin-idle", body: whenIdle)
    } catch {
      // Better here than never.
      whenIdle()
    }
  }

  // MARK: - Lending

  func borrow(_ raw: inout rtcast_picture) -> Int32 {
    if let status = statusWhenOver { return status }
    let layout: PictureLayout
    do throws(PluginFault) {
      let (format, size) = unsafe try PictureRules.shape(raw)
      layout = PictureLayout(format, size)
    } catch { return refuse(error) }
    var lent: (number: UInt64, memory: PluginMemory)?
    let status = unsafe persist(raw.wait_ns) { _ in
      switch lend(layout.byteCount) {
      case .success(let found):
        lent = found
        return .done(RTCAST_OK)
      case .failure(.halted): return .done(RTCAST_STOPPED)
      case .failure(.none(let room)): return .busy(until: nil, room: room)
      }
    }
    guard let lent else { return status }
    unsafe raw.buffer = lent.number
    unsafe raw.setPlanes(layout, base: lent.memory.base)
    return status
  }

  private enum NothingToLend: Error {
    case halted
    case none(room: UInt64)
  }

  private func lend(_ byteCount: Int) -> Result<(number: UInt64, memory: PluginMemory), NothingToLend> {
    // Dropped memory is freed outside the lock.
    var dropped: PluginMemory?
    defer { withExtendedLifetime(dropped) {} }
    return state.withLock { state in
      guard state.phase == .running else { return .failure(.halted) }
      if let index = state.buffers.firstIndex(where: { $0.holder == .nobody && $0.memory.byteCount >= byteCount }) {
        return .success(state.lend(index))
      }
      if state.buffers.count >= Self.loanLimit {
        guard let index = state.buffers.firstIndex(where: { $0.holder == .nobody }) else {
          return .failure(.none(room: state.room))
        }
        dropped = state.buffers.remove(at: index).memory
      }
      guard let memory = sink.makeMemory(byteCount: byteCount) else { return .failure(.none(room: state.room)) }
      state.buffers.append(LentBuffer(number: 0, memory: memory, holder: .nobody))
      return .success(state.lend(state.buffers.count - 1))
    }
  }

  private func giveBack(_ number: UInt64) -> Int32 {
    let isKnown = state.change { state in
      guard let index = state.buffers.firstIndex(where: { $0.number == number && $0.holder == .plugin }) else {
        return false
      }
      state.buffers[index].holder = .nobody
      state.room &+= 1
      return true
    }
    return isKnown ? Int32(RTCAST_OK) : refuse(.unknownBuffer)
  }

  // MARK: - Sound

  func push(_ raw: rtcast_sound) -> Int32 {
    if let status = statusWhenOver { return status }
    guard description.hasSound else { return refuse(.undeclaredSound) }
    let checked: (format: AudioFormat, samples: [Float], hasBadSamples: Bool)
    do throws(PluginFault) { checked = unsafe try SoundRules.check(raw) } catch { return refuse(error) }
    if checked.hasBadSamples { sink.note(.samplesNotANumber) }
    let status = unsafe persist(raw.wait_ns) { now in
      let (phase, room) = state.withLock { ($0.phase, $0.room) }
      let (time, fault) = state.withLock { unsafe $0.soundClock.time(raw.time_ns, now: now) }
      guard phase == .running else { return .done(RTCAST_STOPPED) }
      if time > now + SoundClock.lead { return .busy(until: time - SoundClock.lead, room: room) }
      let sound = AudioFrame(format: checked.format, samples: checked.samples, captureTime: time)
      switch sink.offer(sound) {
      case .taken:
        state.withLock { $0.soundClock.note(sound) }
        if let fault { sink.note(fault) }
        return .done(RTCAST_OK)
      case .busy: return .busy(until: nil, room: room)
      case .stopped: return .done(RTCAST_STOPPED)
      }
    }
    if status == Int32(RTCAST_OK) { unsafe raw.release?(raw.release_context) }
    return status
  }

  // MARK: - Waiting

  /// Non-nil once the plugin was halted.
  private var statusWhenOver: Int32? {
    let phase = state.withLock { $0.phase }
    if phase == .stopped { sink.note(.afterStop) }
    return phase == .running ? nil : Int32(RTCAST_STOPPED)
  }

  /// Attempts until it is done or the plugin's patience is over.
  private func persist(_ patience: Int64, _ attempt: (Timestamp) -> Attempt) -> Int32 {
    let start = MonotonicClock.now()
    let deadline = patience < 0 ? Timestamp.distantFuture : start + .nanoseconds(patience)
    while true {
      let now = MonotonicClock.now()
      switch attempt(now) {
      case .done(let status): return Int32(status)
      case .busy(let opening, let seen):
        guard now < deadline else {
          sink.noteBusy()
          return Int32(RTCAST_BUSY)
        }
        // An hour stands for "no end": the clock's own end cannot be waited for.
        let limit = min(deadline, opening ?? .distantFuture, now + .seconds(3600))
        _ = state.wait(until: limit) { $0.room != seen || $0.phase != .running ? true : nil }
      }
    }
  }
}

extension CheckedPicture {
  fileprivate func lies(in memory: PluginMemory) -> Bool {
    unsafe planes.indices.allSatisfy { index in
      let extent = format.planeExtent(index, of: size)
      return unsafe memory.contains(planes[index].base, planes[index].stride * (extent.rows - 1) + extent.rowBytes)
    }
  }
}

extension rtcast_picture {
  fileprivate mutating func setPlanes(_ layout: PictureLayout, base: UnsafeMutableRawPointer) {
    func plane(_ index: Int) -> rtcast_plane {
      guard index < layout.planes.count else { return unsafe rtcast_plane() }
      let (offset, stride) = layout.planes[index]
      return unsafe rtcast_plane(data: (base + offset).assumingMemoryBound(to: UInt8.self), stride: Int64(stride))
    }
    unsafe planes = unsafe (plane(0), plane(1), plane(2))
  }
}

/// The plugin's callback for the return of its picture.
///
/// `@unchecked Sendable`: function and context are constants that the plugin lets any thread use (rtcast_plugin.h); the
/// rest is atomic.
@safe
private final class Loan: @unchecked Sendable {
  /// 0 for a plugin's own memory.
  let buffer: UInt64
  private let function: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
  private let context: UnsafeMutableRawPointer?
  private let armed = Atomic(true)

  init(_ raw: rtcast_picture) {
    buffer = unsafe raw.buffer
    unsafe function = unsafe raw.buffer == 0 ? raw.release : nil
    unsafe context = unsafe raw.release_context
  }

  var isArmed: Bool { armed.load(ordering: .acquiring) }
  func disarm() { armed.store(false, ordering: .releasing) }
  func release() { unsafe function?(context) }
}

/// How the planes of a picture lie in one piece of memory: rows and planes on multiples of 64 bytes.
struct PictureLayout {
  var planes: [(offset: Int, stride: Int)] = []
  var byteCount = 0

  init(_ format: PixelFormat, _ size: PixelSize) {
    for index in 0..<format.planeCount {
      let extent = format.planeExtent(index, of: size)
      let stride = (extent.rowBytes + 63) / 64 * 64
      planes.append((byteCount, stride))
      byteCount += stride * extent.rows
    }
  }
}
