import RTCMedia
import RTCNet
import RTCPrimitives

/// One run of a `PulseAudioSource` that captures one program, on its thread: records each of the program's streams before
/// its output mixes it with others, and adds them. What is heard on the machine does not change.
final class PulseProgramCapture {
  private let program: String
  private let server: String?
  private let startLimit: TimeDelta
  private let consumer: any AudioConsumer
  private let thread: WorkerRun
  private let notice: (String) -> Void

  private var isStarted = false
  /// The state in the last notice; nil before the first.
  private var isPlaying: Bool?
  private var retries = PulseRetries()
  /// By the index of the stream that is recorded.
  private var recordings: [UInt32: PulseRecording] = [:]
  private var mix = SoundMix()

  init(
    _ program: String, server: String?, startLimit: TimeDelta, _ consumer: any AudioConsumer, _ thread: WorkerRun,
    _ notice: @escaping (String) -> Void
  ) {
    self.program = program
    self.server = server
    self.startLimit = startLimit
    self.consumer = consumer
    self.thread = thread
    self.notice = notice
  }

  func run() {
    while !thread.isStopped {
      let error = session()
      recordings = [:]
      guard !thread.isStopped, let error else { return }
      guard isStarted else {
        thread.noteEnded()
        return consumer.audioCaptureDidStart(.failure(error))
      }
      if isPlaying != nil { notice("The sound server has stopped; sound continues when it is back.") }
      isPlaying = nil
      let end = MonotonicClock.now() + retries.nextPause()
      while !thread.isStopped, MonotonicClock.now() < end { thread.wait(until: end) }
    }
  }

  /// From connecting until the server is lost; nil when stopped.
  private func session() -> CaptureError? {
    let deadline = MonotonicClock.now() + startLimit
    do throws(PulseError) {
      let connection = try PulseConnection(server: server, wakeDescriptor: thread.descriptor)
      try connection.connect(until: deadline) { !thread.isStopped }
      connection.watchDevices(andStreams: true)
      connection.hasDeviceChanges = true
      while !thread.isStopped {
        if case .failed(let error) = connection.state { throw error }
        dropEnded()
        if retries.takeDue() { connection.hasDeviceChanges = true }
        if let inventory = connection.takeChangedInventory() { follow(inventory, connection) }
        if !isStarted, MonotonicClock.now() >= deadline { throw .timeout(server) }
        if thread.isStopped { break }
        connection.pump(until: isStarted ? retries.due : min(deadline, retries.due ?? deadline))
      }
      return nil
    } catch {
      return error.captureError
    }
  }

  /// A stream that moves to another output ends its recording, which is made again there.
  private func dropEnded() {
    for (index, recording) in recordings {
      guard case .ended = recording.state else { continue }
      recordings[index] = nil
      mix.remove(Int(index))
      retries.schedule()
    }
  }

  /// Sees that each of the program's streams is recorded.
  private func follow(_ inventory: PulseInventory, _ connection: PulseConnection) {
    let streams = inventory.streams(of: program)
    for index in recordings.keys where !streams.contains(where: { $0.index == index }) {
      recordings[index] = nil
      mix.remove(Int(index))
    }
    if retries.due == nil {
      for stream in streams where recordings[stream.index] == nil {
        guard let monitor = inventory.sinks.first(where: { $0.index == stream.sink })?.monitor else {
          // PipeWire announces a stream before it has an output, and may not tell when it has one.
          retries.schedule()
          continue
        }
        // The recording is this object's own and gone before it is.
        do throws(PulseError) {
          recordings[stream.index] = try PulseRecording(
            connection, device: monitor, .cast, ofStream: stream.index
          ) { [unowned self] in hear($0, of: stream.index) }
        } catch {
          retries.schedule()
        }
      }
    }
    tell(streams.first?.name)
  }

  /// - Parameter name: the program's, for people; nil while it plays nothing.
  private func tell(_ name: String?) {
    if !isStarted {
      isStarted = true
      consumer.audioCaptureDidStart(.success(PulseRecording.format))
    }
    guard isPlaying != (name != nil), !thread.isStopped else { return }
    if let name {
      notice("Sound comes from \(name).")
    } else {
      notice("\(program) plays no sound now; it is sent when there is some. `rtcast list audio` lists what plays.")
    }
    isPlaying = name != nil
  }

  private func hear(_ frame: AudioFrame, of stream: UInt32) {
    guard !thread.isStopped, isStarted else { return }
    retries.noteSuccess()
    mix.add(frame, of: Int(stream))
    if let sound = mix.take() { consumer.consume(sound) }
  }
}
