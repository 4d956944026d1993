import Glibc
import RTCCapture
import RTCIsolation
import RTCMedia
import RTCNet

/// The life of a plugin's own process. Its program calls `run` and ends with what that returns.
public enum PluginHost {
  private enum Phase {
    case waiting
    case stopping
    case stopped
  }

  /// Loads and runs the plugin that the other side of descriptor 3 names, until that side says stop or is gone.
  /// - Returns: the exit status; nil when descriptor 3 is no such connection, so that this was not started by rtcast.
  public static func run() -> Int32? { run(only: nil) }

  /// - Parameter plugins: the paths that may be loaded, as they are asked for; nil: any.
  package static func run(only plugins: [String]?) -> Int32? {
    guard let socket = ParentConnection.open() else { return nil }
    var room: [UInt8] = []
    guard case .message(let bytes, _) = socket.receive(into: &room),
      case .load(let path, let start) = HostCommand(parsing: bytes)
    else { return 0 }
    do throws(CaptureError) {
      guard plugins?.contains(path) ?? true else {
        throw .notPermitted(
          "The plugin \(path) was not named when rtcast began; name it on the command line, or put it into a folder of "
            + "\(PluginSearch.variable).")
      }
      try serve(path, start, socket)
    } catch {
      socket.send(HostEvent.failed(error).bytes, isPatient: true)
    }
    return 0
  }

  private static func serve(_ path: String, _ start: HostCommand.Start?, _ socket: MessageSocket) throws(CaptureError) {
    let phase = Monitor(Phase.waiting)
    let sink = ChannelSink(socket)
    let thread = WorkerThread()
    // From here on the end of the other side is noticed, even while the plugin hangs.
    try thread.startCapture(name: "rtc-plugin-ctl") { _ in perform(socket, sink, phase) }
    let library = try PluginLibrary(path: path)
    socket.send(HostEvent.described(library.description).bytes, isPatient: true)
    guard let start else { return }
    let run = try LocalRun(
      library, options: start.options, wanted: start.wanted, sink: sink, patience: PluginPatience(),
      connect: { sink.connect($0) })
    socket.send(HostEvent.started(run.format).bytes, isPatient: true)
    _ = phase.wait(until: nil) { phase -> Bool? in if case .waiting = phase { nil } else { true } }
    sink.close()
    run.stop { phase.change { $0 = .stopped } }
    // The other side has its own patience, and ends this process when that is over.
    _ = phase.wait(until: nil) { phase -> Bool? in
      if case .stopped = phase { true } else { nil }
    }
  }

  private static func perform(_ socket: MessageSocket, _ sink: ChannelSink, _ phase: Monitor<Phase>) {
    var room: [UInt8] = []
    while case .message(let bytes, let descriptor) = socket.receive(into: &room) {
      if let descriptor { close(descriptor) }
      switch HostCommand(parsing: bytes) {
      case .pictureRoom: sink.noteRoomForPicture()
      case .release(let slot): sink.release(slot)
      case .soundRoom(let nanoseconds): sink.noteRoomForSound(nanoseconds)
      case .stop: phase.change { $0 = .stopping }
      case .load, nil: break
      }
    }
    // The other process is gone, so the plugin's actions do not matter.
    _exit(0)
  }
}
