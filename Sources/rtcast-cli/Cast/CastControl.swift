import Logging
import RTCMedia
import RTCSignaling
import RTCSignalingNIO
import RTCast

/// The commands of `--control`, as a cast carries them out.
struct CastControl {
  /// The consequence of a request for the caller that runs the cast.
  enum Outcome {
    case goesOn
    case stop
  }

  /// The end of a change of the source. A change takes as long as its source: the dialog of a desktop may stay open for
  /// minutes.
  struct SourceChange: Sendable {
    /// The command that asked for the source; nil: the cast's own source comes back.
    let request: ControlRequest?
    /// The name of the source, as in the event `capture`.
    let name: String
    let result: Result<StartedSource, CaptureError>

    /// The words of the source that has taken the place of the cast's own.
    var words: [String]? {
      guard case .success = result, case .success(.source(let words)) = request?.command else { return nil }
      return words
    }
  }

  /// Where viewers come; nil: the cast is published.
  struct Served {
    let server: SignalingServer
    let links: ServerLinks
    var socket: ListeningSocket?
    /// Nil without `--map-port`.
    var outside: OutsidePage?

    func close() async {
      outside?.close()
      await server.shutdown()
      socket?.remove()
    }
  }

  let options: CastOptions
  let output: CastOutput
  let logger: Logger
  let broadcast: Broadcast
  let served: Served?
  /// The name of the source that is cast, as in the event `capture`.
  var sourceName: String
  /// The newest figures; nil in the first second.
  var measured: StatisticsReport?
  private let status = ControlStatus(of: .cast)
  private let ended: @Sendable (SourceChange) -> Void
  private(set) var isChanging = false
  /// The request for the change that is under way; nil: the first source comes back.
  private var changing: ControlRequest?
  /// The requests of the source that came during a change of it. They are carried out after it, in their order.
  private var waiting: [ControlRequest] = []
  private static let mostWaiting = 100

  /// - Parameter ended: is told the end of each change of the source, on any thread; `finish` takes it.
  init(
    _ options: CastOptions, _ output: CastOutput, _ logger: Logger, _ broadcast: Broadcast, _ served: Served?,
    sourceName: String, ended: @escaping @Sendable (SourceChange) -> Void
  ) {
    self.options = options
    self.output = output
    self.logger = logger
    self.broadcast = broadcast
    self.served = served
    self.sourceName = sourceName
    self.ended = ended
  }

  /// Takes a command. Those that concern the source wait while it changes.
  mutating func take(_ request: ControlRequest) async -> Outcome {
    guard isChanging, case .success(let command) = request.command, command.concernsSource else {
      return await perform(request)
    }
    if waiting.count < Self.mostWaiting {
      waiting.append(request)
    } else {
      request.answer(ControlReply(.failure(ControlError("A change of the source is under way; wait for its end."))))
    }
    return .goesOn
  }

  /// Ends a change of the source, and carries out the commands that waited for it.
  mutating func finish(_ change: SourceChange) async -> Outcome {
    isChanging = false
    if case .success(let started) = change.result {
      sourceName = change.name
      output.captureStarted(started, source: change.name)
    }
    if let request = changing, case .success(let command) = request.command {
      changing = nil
      switch change.result {
      case .success: request.answer(ControlReply(.success(command)))
      case .failure(let error): request.answer(ControlReply(.failure(ControlError(error.sentence))))
      }
    }
    while !isChanging, !waiting.isEmpty {
      if case .stop = await perform(waiting.removeFirst()) { return .stop }
    }
    return .goesOn
  }

  /// Answers the requests that wait, since the cast ends.
  mutating func end() {
    for request in [changing].compactMap(\.self) + waiting {
      request.answer(ControlReply(.failure(ControlError("The cast has ended."))))
    }
    (changing, waiting) = (nil, [])
  }

  /// Carries out a command, and answers it, at once or when its source has started.
  private mutating func perform(_ request: ControlRequest) async -> Outcome {
    do throws(ControlError) {
      let command = try request.command.get()
      try command.check(in: .cast)
      if case .source(let words) = command {
        change(for: request) { [logger] () async throws(CaptureError) in
          try await CastRunner.Source(words: words, logger)
        }
        return .goesOn
      }
      if case .stop = command { end() }
      request.answer(try await reply(to: command))
      if case .stop = command { return .stop }
      return .goesOn
    } catch {
      request.answer(ControlReply(.failure(error)))
      return .goesOn
    }
  }

  private mutating func reply(to command: ControlCommand) async throws(ControlError) -> ControlReply {
    do throws(CaptureError) {
      switch command {
      case .pause: broadcast.pause()
      case .resume: try await broadcast.resume()
      case .bitrate(let rate): await broadcast.setBitrates(options.media.bitrateLimits(rate))
      case .frameRate(let rate): try await broadcast.setFrameRate(rate)
      case .contentHint(let hint): broadcast.setContentHint(hint)
      case .keyFrame: broadcast.requestKeyFrame()
      case .mute(let isMuted): broadcast.setMuted(isMuted)
      case .status: return ControlReply(await statusEvent())
      case .viewers:
        return ControlReply(StatisticsReport.viewers(await broadcast.glance(), measured: measured?.broadcast))
      case .revoke(let link):
        do throws(ControlError) { try revoke(link) } catch { return ControlReply(.failure(error)) }
      case .source, .stop: break  // whoever runs the cast ends it; `change` changes the source
      case .say, .answer, .hangUp: break  // of calls
      }
    } catch {
      throw ControlError(error.sentence)
    }
    return ControlReply(.success(command))
  }

  private func statusEvent() async -> OutputEvent {
    status.event([
      ("source", .string(sourceName)), ("paused", .bool(broadcast.isPaused)),
      ("urls", .array((served?.links.urls ?? []).map { .string($0) })),
      ("to", .optional(options.destination.to?.text)), ("viewers", .count(await broadcast.glance().viewers)),
      ("stats", measured?.object ?? .null),
    ])
  }

  private func revoke(_ link: String) throws(ControlError) {
    guard let server = served?.server else {
      throw ControlError("This cast serves no viewers here; there are no links to revoke.")
    }
    do throws(RevocationError) { try server.revoke(link) } catch { throw ControlError(error.description) }
  }

  /// The source that came by `source` has ended: the one that the cast began with comes back.
  mutating func takeBack(_ source: CastRunner.Source, after end: CaptureEnd) {
    if case .lost(let sentence) = end { logger.warning("\(sentence) The first source comes back.") }
    change(for: nil) { source }
  }

  /// Begins to cast another source; everything else stays as it is.
  /// - Parameter request: is answered when the source has started; nil: the first source comes back.
  private mutating func change(
    for request: ControlRequest?,
    to source: @escaping @Sendable () async throws(CaptureError) -> CastRunner.Source
  ) {
    (isChanging, changing) = (true, request)
    Task { [logger, broadcast, ended] in
      var name = ""
      do throws(CaptureError) {
        let source = try await source()
        name = source.name
        let started = try await broadcast.replaceSource(source.media, frameRate: source.frameRate, size: source.size)
        if request != nil { source.player?.tellShortcomings(to: logger) }
        ended(SourceChange(request: request, name: name, result: .success(started)))
      } catch {
        ended(SourceChange(request: request, name: name, result: .failure(error)))
      }
    }
  }
}
