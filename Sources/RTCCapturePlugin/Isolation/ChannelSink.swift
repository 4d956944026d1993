import Glibc
import RTCIsolation
import RTCMedia
import RTCPrimitives
import Synchronization

/// The sink in a plugin's process: pictures into shared memory, sound and words through the socket. Any thread.
final class ChannelSink: PluginSink {
  /// Pieces of shared memory: four to lend and four to copy into.
  static let slotCount = 8
  /// Samples of all channels in one message.
  private static let longestSound = 16_000

  private struct State {
    /// Pictures that may be sent.
    var credits = 0
    /// Leases on sent frames, by slot; our own copies have none.
    var sent: [UInt8: VideoFrame] = [:]
    var copies: [PluginMemory] = []
    var busyCopies: Set<UInt8> = []
    var queuedSound: Int64 = 0
    var busy: UInt64 = 0
    var isOpen = true
  }

  private let socket: MessageSocket
  private let slots: SharedSlots
  private let state = Mutex(State())
  private let inlet = Mutex<PluginInlet?>(nil)

  init(_ socket: MessageSocket) {
    self.socket = socket
    slots = SharedSlots(socket, count: Self.slotCount)
  }

  func connect(_ inlet: PluginInlet) { self.inlet.withLock { $0 = inlet } }

  // MARK: - From the plugin

  func offer(_ frame: VideoFrame, memory: PluginMemory?) -> PushResult {
    let result = state.withLock { state -> PushResult in
      guard state.isOpen else { return .stopped }
      guard state.credits > 0 else { return .busy }
      state.credits -= 1
      if let memory { state.sent[memory.slot] = frame }
      return .taken
    }
    guard case .taken = result else { return result }
    if let memory {
      send(frame, memory)
    } else if !copy(frame) {
      state.withLock { $0.credits += 1 }
      return .busy
    }
    return .taken
  }

  private func send(_ frame: VideoFrame, _ memory: PluginMemory) {
    let planes = 0..<frame.buffer.format.planeCount
    let offsets = planes.map { unsafe UnsafeRawPointer(memory.base).distance(to: frame.buffer.unsafePlane($0).base) }
    let picture = SharedPicture(
      frame, slot: memory.slot, offsets: offsets, strides: planes.map { frame.buffer.stride(ofPlane: $0) },
      isCopy: false)
    socket.send(HostEvent.picture(picture).bytes, isPatient: true)
  }

  /// For a picture in the plugin's own memory; false when no shared memory is free.
  private func copy(_ frame: VideoFrame) -> Bool {
    let layout = PictureLayout(frame.buffer.format, frame.size)
    guard let memory = copyMemory(layout.byteCount) else { return false }
    for (index, target) in layout.planes.enumerated() {
      let plane = unsafe frame.buffer.unsafePlane(index)
      for row in unsafe 0..<plane.rows {
        unsafe memcpy(
          memory.base + target.offset + row * target.stride, plane.base + row * plane.stride, plane.rowBytes)
      }
    }
    let picture = SharedPicture(
      frame, slot: memory.slot, offsets: layout.planes.map(\.offset), strides: layout.planes.map(\.stride), isCopy: true
    )
    socket.send(HostEvent.picture(picture).bytes, isPatient: true)
    return true
  }

  private func copyMemory(_ byteCount: Int) -> PluginMemory? {
    // Dropped memory is unmapped outside the lock.
    var dropped: PluginMemory?
    defer { withExtendedLifetime(dropped) {} }
    let found = state.withLock { state -> PluginMemory? in
      if let memory = state.copies.first(where: { $0.byteCount >= byteCount && !state.busyCopies.contains($0.slot) }) {
        state.busyCopies.insert(memory.slot)
        return memory
      }
      if state.copies.count >= PluginInlet.loanLimit,
        let index = state.copies.firstIndex(where: { !state.busyCopies.contains($0.slot) })
      {
        dropped = state.copies.remove(at: index)
      }
      return nil
    }
    if let found { return found }
    dropped = nil
    guard state.withLock({ $0.copies.count < PluginInlet.loanLimit }), let memory = makeMemory(byteCount: byteCount)
    else { return nil }
    state.withLock {
      $0.copies.append(memory)
      $0.busyCopies.insert(memory.slot)
    }
    return memory
  }

  func offer(_ sound: AudioFrame) -> PushResult {
    let result = state.withLock { state -> PushResult in
      guard state.isOpen else { return .stopped }
      let length = sound.duration.nanoseconds
      if state.queuedSound > 0, state.queuedSound + length > PluginFeed.soundLimit.nanoseconds { return .busy }
      state.queuedSound += length
      return .taken
    }
    guard case .taken = result else { return result }
    let step = Self.longestSound / sound.format.channels * sound.format.channels
    for start in stride(from: 0, to: sound.samples.count, by: step) {
      let part = AudioFrame(
        format: sound.format, samples: Array(sound.samples[start..<min(sound.samples.count, start + step)]),
        captureTime: sound.captureTime
          + .nanoseconds(Int64(start / sound.format.channels) * 1_000_000_000 / Int64(sound.format.sampleRate)))
      socket.send(HostEvent.sound(part).bytes, isPatient: true)
    }
    return .taken
  }

  func makeMemory(byteCount: Int) -> PluginMemory? {
    guard let piece = unsafe slots.make(byteCount: byteCount) else { return nil }
    let (address, slot) = unsafe (UInt(bitPattern: piece.base), piece.slot)
    return unsafe PluginMemory(base: piece.base, byteCount: byteCount, slot: slot) { [slots] in
      slots.free(address, byteCount: byteCount, slot: slot)
    }
  }

  func note(_ fault: PluginFault) { socket.send(HostEvent.fault(fault).bytes, isPatient: true) }
  func tell(_ notice: String) { socket.send(HostEvent.notice(notice).bytes, isPatient: true) }
  func end(_ reason: CaptureEnd) { socket.send(HostEvent.ended(reason).bytes, isPatient: true) }

  /// Counts are sent in sums, as a plugin may ask a million times a second.
  func noteBusy() {
    let sum = state.withLock { state -> UInt64 in
      state.busy += 1
      guard state.busy >= 16 else { return 0 }
      defer { state.busy = 0 }
      return state.busy
    }
    if sum > 0 { socket.send(HostEvent.busy(sum).bytes, isPatient: true) }
  }

  // MARK: - From the other process

  func noteRoomForPicture() {
    state.withLock { $0.credits = min($0.credits + 1, PluginInlet.loanLimit) }
    inlet.withLock { $0 }?.noteRoom()
  }

  func noteRoomForSound(_ nanoseconds: Int64) {
    state.withLock { $0.queuedSound = max(0, $0.queuedSound - nanoseconds) }
    inlet.withLock { $0 }?.noteRoom()
  }

  /// The other process reads the slot no more.
  func release(_ slot: UInt8) {
    let frame = state.withLock { state -> VideoFrame? in
      state.busyCopies.remove(slot)
      return state.sent.removeValue(forKey: slot)
    }
    withExtendedLifetime(frame) {}
    inlet.withLock { $0 }?.noteRoom()
  }

  /// Stops delivery and releases every lease: the other process keeps its mappings.
  func close() {
    let frames = state.withLock { state in
      state.isOpen = false
      defer { state.sent = [:] }
      return state.sent
    }
    withExtendedLifetime(frames) {}
  }
}
