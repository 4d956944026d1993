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
    /// Another source has taken the place of the cast's own.
    case sourceReplaced
    case stop
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

  init(
    _ options: CastOptions, _ output: CastOutput, _ logger: Logger, _ broadcast: Broadcast, _ served: Served?,
    sourceName: String
  ) {
    self.options = options
    self.output = output
    self.logger = logger
    self.broadcast = broadcast
    self.served = served
    self.sourceName = sourceName
  }

  /// Carries out a command, and answers it.
  mutating func perform(_ request: ControlRequest) async -> Outcome {
    do throws(ControlError) {
      let command = try request.command.get()
      try command.check(in: .cast)
      request.answer(try await reply(to: command))
      switch command {
      case .source: return .sourceReplaced
      case .stop: return .stop
      default: return .goesOn
      }
    } catch {
      request.answer(ControlReply(.failure(error)))
      return .goesOn
    }
  }

  private mutating func reply(to command: ControlCommand) async throws(ControlError) -> ControlReply {
    do throws(CaptureError) {
      switch command {
      case .source(let words): try await replaceSource(words)
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
      case .stop: break  // whoever runs the cast ends it
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

  /// Casts what the words of a command line say; everything but the source stays as it is.
  private mutating func replaceSource(_ words: [String]) async throws(CaptureError) {
    let source = try await CastRunner.Source(words: words, logger)
    let started = try await broadcast.replaceSource(source.media, frameRate: source.frameRate, size: source.size)
    source.player?.tellShortcomings(to: logger)
    sourceName = source.name
    output.captureStarted(started, source: source.name)
  }

  /// The source that came by `source` has ended: the one that the cast began with comes back.
  mutating func takeBack(_ source: CastRunner.Source, after end: CaptureEnd) async throws(CaptureError) {
    if case .lost(let sentence) = end { logger.warning("\(sentence) The first source comes back.") }
    let started = try await broadcast.replaceSource(source.media, frameRate: source.frameRate, size: source.size)
    sourceName = source.name
    output.captureStarted(started, source: source.name)
  }
}
