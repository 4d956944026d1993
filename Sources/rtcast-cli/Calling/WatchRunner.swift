import Glibc
import Logging
import RTCAudio
import RTCMedia
import RTCPeer
import RTCSignaling
import RTCWindow
import RTCast

/// One cast watched, from a WHEP service or by pasted descriptions.
struct WatchRunner {
  enum Source: Sendable {
    case service(String, token: String?)
    /// The remote peer's offer is pasted here, and our answer there.
    case manual
  }

  private enum Event: Sendable {
    case watching(Watching.Event)
    case window(CallWindow.Event?)
    case stop(Int32)
    case durationOver
    case failed(CastFailure)
  }

  private let source: Source
  private let command: WatchCommand
  private let output: CallOutput
  private let logger: Logger
  private let events: AsyncStream<Event>
  private let report: AsyncStream<Event>.Continuation

  init(_ source: Source, _ command: WatchCommand, _ logger: Logger) {
    self.source = source
    self.command = command
    self.logger = logger
    output = CallOutput(isJSON: command.output.run.json)
    // The latest counts: an end is the last.
    (events, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4_096))
  }

  /// Watches, and returns when the cast is over or was stopped. Failures were not printed when it throws.
  func run() async throws(CastFailure) {
    let (report, logger) = (report, logger)
    try StopSignals.install { number in report.yield(.stop(number)) }
    let show = try CallShow(
      title: "rtcast", showsWindow: !command.connection.hub.hidesWindow, recording: command.output.recording,
      output: output, logger: logger
    ) { report.yield(.window($0)) }
    var service: String?
    if case .service(let url, _) = source { service = url }
    let peers = try command.network.openPeers(
      preset: command.connection.preset, serversMayFollow: service != nil, by: service.flatMap { WebAddress($0)?.host },
      logger)
    defer { peers.stop() }
    let watching = Watching(
      peers: peers, configuration: command.connection.preset.map { CallConfiguration($0) } ?? CallConfiguration(),
      audioDevice: PulseAudioDevice(onNotice: { logger.warning("\($0)") }), codecs: .isolated(logger))
    let tasks = begin(watching)
    let result = await follow(show, watching)
    for task in tasks { task.cancel() }
    await watching.close()
    await show.finish()
    output.ended(try result.get())
  }

  private func begin(_ watching: Watching) -> [Task<Void, Never>] {
    let (report, source, output) = (report, source, output)
    var tasks = [
      Task { for await event in watching.events { report.yield(.watching(event)) } },
      Task {
        do throws(PublishFailure) {
          switch source {
          case .service(let url, let token): try await watching.watch(url, token: token)
          case .manual:
            output.prompt("Paste the offer, followed by an empty line.")
            let lines = await StandardInput.paragraph(StandardInput.lines()) ?? []
            guard let offer = PastedDescription.sdp(in: lines) else { throw PastedDescription.refusal }
            output.description("answer", try await watching.answer(to: offer))
          }
        } catch {
          report.yield(.failed(CastFailure(error)))
        }
      },
    ]
    if let duration = command.output.run.duration {
      tasks.append(
        Task { if (try? await Task.sleep(for: .seconds(duration))) != nil { report.yield(.durationOver) } })
    }
    return tasks
  }

  private func follow(_ show: CallShow, _ watching: Watching) async -> Result<String, CastFailure> {
    for await event in events {
      switch event {
      case .watching(let event): if let result = await hear(event, show, watching) { return result }
      case .window(.closed?): return .success("window closed")
      case .window(.lost(let sentence)?), .window(.unshowable(_, let sentence)?): logger.warning("\(sentence)")
      case .window: break
      case .stop(SIGINT): return .success("interrupted")
      case .stop: return .success("terminated")
      case .durationOver: return .success("duration over")
      case .failed(let failure): return .failure(failure)
      }
    }
    return .success("ended")  // never: the stream is not finished by anybody
  }

  private func hear(
    _ event: Watching.Event, _ show: CallShow, _ watching: Watching
  ) async -> Result<String, CastFailure>? {
    switch event {
    case .connected:
      let keys = await watching.keyCode()
      output.watching(keys: keys)
      if let keys { await show.setKeys(keys) }
    case .videoAdded(let track):
      output.track(of: track.peer, kind: "video", "added")
      await show.add(track)
    case .videoRemoved(let track):
      output.track(of: track.peer, kind: "video", "removed")
      await show.remove(track)
    case .audioAdded(let track):
      output.track(of: track.peer, kind: "audio", "added")
      await show.add(track)
    case .audioRemoved(let track):
      output.track(of: track.peer, kind: "audio", "removed")
      await show.remove(track)
    case .warning(let sentence): logger.warning("\(sentence)")
    case .ended(nil): return .success("cast ended")
    case .ended(let failure?): return .failure(CastFailure(failure))
    }
    return nil
  }
}
