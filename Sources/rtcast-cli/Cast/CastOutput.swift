import RTCCaptureFile
import RTCEngine
import RTCMedia
import RTCSignaling
import RTCast

/// What is told on standard output while a cast goes on.
struct CastOutput: Sendable {
  enum Style: Sendable {
    case json
    /// The link, a QR code and one line that is redrawn in place.
    case live(qrCode: Bool)
    /// The link, and a line of statistics every second if wanted.
    case plain(statistics: Bool)
  }

  let style: Style
  private let isPublishing: Bool
  /// What can be typed while the cast goes on.
  private let keysHint: String

  init(_ options: CastOptions, isFile: Bool) {
    keysHint =
      isFile && TerminalKeys.isPossible && !options.takesControl
      ? "Space pauses, ← → go ten seconds, m mutes, q ends." : "Ctrl-C ends the cast."
    isPublishing = options.to != nil
    style =
      if options.json { .json } else if Terminal.isInteractive { .live(qrCode: !options.hidesQRCode) } else {
        .plain(statistics: options.stats)
      }
  }

  /// Whether anybody is told of statistics, so that nobody wakes up to gather them in vain.
  var showsStatistics: Bool {
    if case .plain(let statistics) = style { statistics } else { true }
  }

  func captureStarted(_ started: StartedSource, source: String) {
    guard case .json = style else { return }
    var members: [(String, JSONValue)] = [("event", "capture"), ("source", .string(source))]
    if let format = started.video {
      members += [
        ("width", .count(format.size.width)), ("height", .count(format.size.height)),
        ("fps", .number(format.frameRates.upperBound)), ("format", .string(format.pixelFormat.rawValue)),
      ]
    }
    if let format = started.audio {
      members += [("audio_rate", .count(format.sampleRate)), ("audio_channels", .count(format.channels))]
    }
    emit(.object(members))
  }

  /// - Parameter links: for browsers, the best one for another machine first.
  func listening(at links: [String], local: String) {
    switch style {
    case .json:
      emit(["event": "listening", "url": .string(local), "urls": .array(links.map { .string($0) })])
    case .plain:
      for link in links { Terminal.print(link) }
    case .live(let qrCode):
      let size = Terminal.size
      if qrCode, let first = links.first, let code = QRCode(first), code.columns <= size.columns,
        code.lines.count + links.count + 4 <= size.rows
      {
        Terminal.print("")
        for line in code.lines { Terminal.print("  " + line) }
      }
      Terminal.print("")
      for (index, link) in links.enumerated() {
        Terminal.print("  \(index == 0 ? "Watch at" : "      or") \u{1B}[1m\(link)\u{1B}[0m")
      }
      Terminal.print("  \(keysHint)\n")
    }
  }

  func published(to url: String) {
    switch style {
    case .json: emit(["event": "peer", "id": .string(url), "state": "published"])
    case .plain: Terminal.print(url)
    case .live: Terminal.print("\n  Published to \u{1B}[1m\(url)\u{1B}[0m\n  \(keysHint)\n")
    }
  }

  func answer(_ reply: ControlReply) {
    switch style {
    case .json: emit(reply.event)
    case .plain, .live: if case .failure(let error) = reply.outcome { Terminal.complain(error.sentence) }
    }
  }

  func viewerJoined(_ id: String) {
    guard case .json = style else { return }
    emit(["event": "peer", "id": .string(id), "state": "joined"])
  }

  func viewerLeft(_ id: String, _ reason: EndReason) {
    guard case .json = style else { return }
    emit(["event": "peer", "id": .string(id), "state": "left", "reason": .string(reason.word)])
  }

  func statistics(_ report: StatisticsReport) {
    switch style {
    case .json: emit(report.event)
    case .plain: Terminal.print(report.line(publishing: isPublishing).fitted(to: .max))
    case .live:
      let line = report.line(publishing: isPublishing).fitted(to: Terminal.size.columns - 1)
      Terminal.showLive(line.hasPrefix("●") ? "\u{1B}[32m●\u{1B}[0m" + line.dropFirst() : line)
    }
  }

  var isLive: Bool { if case .live = style { true } else { false } }

  /// The recording ended; the cast goes on.
  func recordingFailed(_ sentence: String) {
    if case .json = style { emit(["event": "error", "recording": .bool(true), "message": .string(sentence)]) }
    Terminal.complain(sentence)
  }

  func recorded(_ progress: RecordingProgress) {
    switch style {
    case .json:
      emit(["event": "recorded", "path": .string(progress.path), "bytes": .count(progress.safeBytes)])
    case .plain: break
    case .live: Terminal.print("  Recorded into \(progress.path).")
    }
  }

  /// - Parameter after: how long the cast went on, in seconds.
  func ended(_ ending: CastEnding, after seconds: Int64) {
    switch style {
    case .json: emit(["event": "ended", "reason": .string(ending.word)])
    case .plain: break
    case .live:
      Terminal.showLive("")
      Terminal.print("  Ended after \(Figures.duration(seconds: seconds)).")
    }
  }

  /// The same sentence for a program and for a person.
  func failed(_ failure: CastFailure) {
    Terminal.showLive("")
    if case .json = style {
      emit([
        "event": "error", "message": .string(failure.sentence), "status": .count(failure.status.rawValue),
      ])
    }
    Terminal.complain(failure.sentence)
  }

  private func emit(_ event: JSONValue) { Terminal.print(event.text) }
}
