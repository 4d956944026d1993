import RTCMedia
import RTCNet
import RTCPrimitives

/// One run of a `PulseAudioSource`, on its thread: connects, follows the device, and begins again when the server dies.
final class PulseCapture {
  /// How long the server may take to give the first sound's stream, unless said otherwise.
  static let defaultStartLimit = TimeDelta.seconds(5)

  /// The state last reported to the consumer.
  private enum Standing {
    case starting
    case hearing(PulseDevice)
    /// Waiting for a device or for the server.
    case waiting
  }

  private let target: PulseTarget
  private let server: String?
  private let startLimit: TimeDelta
  private let consumer: any AudioConsumer
  private let thread: WorkerRun
  private let notice: (String) -> Void
  private let purpose: PulsePurpose
  /// Learns from which device sound comes; nil while none does.
  private let noteDevice: (PulseDevice?) -> Void

  private var standing = Standing.starting
  private var retries = PulseRetries()
  private var recording: PulseRecording?
  /// The device being opened, until the stream runs.
  private var opening: PulseDevice?
  /// The device to which the user has moved the stream.
  private var movedTo: String?

  init(
    _ target: PulseTarget, server: String?, startLimit: TimeDelta, _ consumer: any AudioConsumer, _ thread: WorkerRun,
    _ notice: @escaping (String) -> Void, _ purpose: PulsePurpose, _ noteDevice: @escaping (PulseDevice?) -> Void
  ) {
    self.target = target
    self.server = server
    self.startLimit = startLimit
    self.consumer = consumer
    self.thread = thread
    self.notice = notice
    self.purpose = purpose
    self.noteDevice = noteDevice
  }

  func run() {
    defer { noteDevice(nil) }
    while !thread.isStopped {
      let error = session()
      recording = nil
      guard !thread.isStopped, let error else { return }
      if case .starting = standing {
        thread.noteEnded()
        return consumer.audioCaptureDidStart(.failure(error))
      }
      wait("The sound server has stopped; sound continues when it is back.")
      let end = MonotonicClock.now() + retries.nextPause()
      while !thread.isStopped, MonotonicClock.now() < end { thread.wait(until: end) }
    }
  }

  /// From connecting until the server is lost; nil when stopped.
  private func session() -> CaptureError? {
    let deadline = MonotonicClock.now() + startLimit
    do {
      let connection = try PulseConnection(server: server, wakeDescriptor: thread.descriptor)
      try connection.connect(until: deadline) { !thread.isStopped }
      connection.watchDevices()
      connection.hasDeviceChanges = true
      while !thread.isStopped {
        if case .failed(let error) = connection.state { throw error }
        try step(connection)
        if thread.isStopped { break }
        if case .starting = standing, MonotonicClock.now() >= deadline { throw PulseError.timeout(server) }
        connection.pump(until: nextLook(deadline))
      }
      return nil
    } catch let error as PulseError {
      return error.captureError
    } catch {
      return error as? CaptureError
    }
  }

  private func nextLook(_ deadline: Timestamp) -> Timestamp? {
    if case .starting = standing { return min(deadline, retries.due ?? deadline) }
    return retries.due
  }

  /// Handles the results of the last pump.
  private func step(_ connection: PulseConnection) throws {
    if let recording {
      switch recording.state {
      case .opening: break
      case .running: noteRunning(recording)
      case .ended(let error):
        if case .starting = standing { throw error }
        self.recording = nil
        retries.schedule()
      }
    }
    if retries.takeDue() { connection.hasDeviceChanges = true }
    if let inventory = connection.takeChangedInventory() { try follow(inventory, connection) }
  }

  /// Sees that the stream is at the device it should be at.
  private func follow(_ inventory: PulseInventory, _ connection: PulseConnection) throws {
    let device: PulseDevice
    do throws(CaptureError) {
      device = try wanted(inventory)
    } catch {
      if case .starting = standing { throw error }
      recording = nil
      return wait("No sound for now: \(error.sentence)")
    }
    if let recording, recording.device == device.name {
      recording.acceptMove()
      return noteHeard(device)
    }
    guard retries.due == nil else { return }
    // The old one first: a device may allow only one.
    recording = nil
    opening = device
    // The recording is this object's own and gone before it is.
    recording = try PulseRecording(connection, device: device.name, purpose) { [unowned self] in hear($0) }
  }

  private func wanted(_ inventory: PulseInventory) throws(CaptureError) -> PulseDevice {
    let choice = Result { () throws(CaptureError) in try inventory.device(for: target, cancelsEcho: purpose == .call) }
    if let recording, recording.hasMoved {
      // A move while its device is still there was the user's choice. Otherwise the server had no better device.
      let isForced = !inventory.sources.contains { $0.name == recording.openedDevice }
      movedTo = isForced ? nil : recording.device
    }
    if case .success(let device) = choice, device.name == movedTo { movedTo = nil }
    if let moved = inventory.devices.first(where: { $0.name == movedTo }) { return moved }
    movedTo = nil
    return try choice.get()
  }

  private func hear(_ frame: AudioFrame) {
    guard !thread.isStopped, let recording else { return }
    noteRunning(recording)
    if !thread.isStopped { consumer.consume(frame) }
  }

  private func noteRunning(_ recording: PulseRecording) {
    retries.noteSuccess()
    guard !recording.hasMoved, let device = opening else { return }
    opening = nil
    noteHeard(device)
  }

  private func noteHeard(_ device: PulseDevice) {
    noteDevice(device)
    switch standing {
    case .starting:
      standing = .hearing(device)
      consumer.audioCaptureDidStart(.success(PulseRecording.format))
    case .hearing(let before):
      standing = .hearing(device)
      if before.description != device.description { notice("Sound now comes from \(device.description).") }
    case .waiting:
      standing = .hearing(device)
      notice("Sound is back, from \(device.description).")
    }
  }

  private func wait(_ sentence: String) {
    if case .waiting = standing { return }
    standing = .waiting
    noteDevice(nil)
    notice(sentence)
  }
}

/// Schedules retries of streams that the sound server refused, with pauses that grow until one succeeds.
struct PulseRetries {
  private static let firstPause = TimeDelta.milliseconds(100)
  private static let longestPause = TimeDelta.seconds(2)

  private var pause = PulseRetries.firstPause
  /// The time to retry a refused stream.
  private(set) var due: Timestamp?

  /// The next try is after a pause.
  mutating func schedule() { due = MonotonicClock.now() + nextPause() }

  /// True once, when the next try is due.
  mutating func takeDue() -> Bool {
    guard let due, MonotonicClock.now() >= due else { return false }
    self.due = nil
    return true
  }

  mutating func noteSuccess() { pause = Self.firstPause }

  mutating func nextPause() -> TimeDelta {
    defer { pause = min(pause * 2, Self.longestPause) }
    return pause
  }
}
