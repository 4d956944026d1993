import RTCCaptureFile
import RTCEngine
import RTCMedia
import RTCSignaling
import RTCast

/// The output of a cast on standard output.
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
  /// The keys that have an effect during the cast.
  private let keysHint: String

  /// - Parameter sharesTerminal: another program writes to the terminal, too, so no line is redrawn.
  init(_ options: CastOptions, isFile: Bool, sharesTerminal: Bool = false) {
    keysHint =
      isFile && TerminalKeys.isPossible && !options.output.control.readsStandardInput
      ? "Space pauses, ← → seek 10 s, m mutes, q quits." : "Press Ctrl-C to stop."
    isPublishing = options.destination.to != nil
    style =
      if options.output.run.json { .json } else if Terminal.isInteractive, !sharesTerminal {
        .live(qrCode: !options.viewers.hidesQRCode)
      } else {
        .plain(statistics: options.output.stats)
      }
  }

  /// Whether statistics are shown; if not, they need not be collected.
  var showsStatistics: Bool {
    if case .plain(let statistics) = style { statistics } else { true }
  }

  func captureStarted(_ started: StartedSource, source: String) {
    guard case .json = style else { return }
    var members: [(String, JSONValue)] = [("source", .string(source))]
    if let format = started.video {
      // A screen that is not there yet has no size.
      if format.size.width > 0 {
        members += [("width", .count(format.size.width)), ("height", .count(format.size.height))]
      }
      members += [
        ("fps", .number(format.frameRates.upperBound)), ("format", .string(format.pixelFormat.rawValue)),
      ]
    }
    if let format = started.audio {
      members += [("audio_rate", .count(format.sampleRate)), ("audio_channels", .count(format.channels))]
    }
    OutputEvent(.capture, members).print()
  }

  func listening(at links: ServerLinks) {
    switch style {
    case .json:
      OutputEvent(.listening, links.members).print()
      if let exposure = links.exposure { Terminal.complain(exposure, isWarning: true) }
    case .plain:
      for link in links.urls { Terminal.print(link) }
      if let exposure = links.exposure { Terminal.complain(exposure, isWarning: true) }
    case .live(let qrCode): links.show(as: "Watch at", of: "this cast", qrCode: qrCode, hint: keysHint)
    }
  }

  func published(to url: String) {
    switch style {
    case .json: OutputEvent(.peer, [("id", .string(url)), ("state", "published")]).print()
    case .plain: Terminal.print(url)
    case .live: Terminal.print("\n  Published to ", bold: url, "\n  \(keysHint)\n")
    }
  }

  /// - Parameter state: `interrupted` or `resumed`.
  func publicationChanged(_ url: String, _ state: String) {
    guard case .json = style else { return }
    OutputEvent(.peer, [("id", .string(url)), ("state", .string(state))]).print()
  }

  func answer(_ reply: ControlReply) {
    switch style {
    case .json: reply.event.print()
    case .plain, .live: reply.show()
    }
  }

  /// - Parameter link: of the page, for viewers outside this network.
  func mapped(to link: String) {
    switch style {
    case .json: OutputEvent(.mapped, [("url", .string(link))]).print()
    case .plain: Terminal.print("From outside: \(link)")
    case .live: Terminal.print("  From outside ", bold: link)
    }
  }

  /// - Parameter link: of the page on which the caster picks what is cast.
  func picking(at link: String) {
    switch style {
    case .json: OutputEvent(.pick, [("url", .string(link))]).print()
    case .plain: Terminal.print("Pick what to cast at \(link)")
    case .live:
      Terminal.print("  Pick what to cast at ", bold: link)
      Terminal.print("  Open this link yourself; it is not for viewers.")
      Terminal.print("")
    }
  }

  /// - Parameter keys: the code of the viewer's and our keys.
  func viewerJoined(_ id: String, keys: String?) {
    guard case .json = style else { return }
    var members: [(String, JSONValue)] = [("id", .string(id)), ("state", "joined")]
    if let keys { members.append(("keys", .string(keys))) }
    OutputEvent(.peer, members).print()
  }

  func viewerLeft(_ id: String, _ reason: EndReason) {
    guard case .json = style else { return }
    OutputEvent(.peer, [("id", .string(id)), ("state", "left"), ("reason", .string(reason.word))]).print()
  }

  func viewerFailed(_ id: String, from address: String, _ reason: EndReason) {
    guard case .json = style else { return }
    OutputEvent(
      .peer,
      [
        ("id", .string(id)), ("state", "failed"), ("reason", .string(reason.word)), ("remote", .string(address)),
        ("message", .string(reason.failureSentence(of: address))),
      ]
    ).print()
  }

  /// - Parameter sentence: why it is not connected, and what to do.
  func viewerDelayed(_ id: String, from address: String, _ sentence: String) {
    guard case .json = style else { return }
    OutputEvent(
      .peer,
      [("id", .string(id)), ("state", "delayed"), ("remote", .string(address)), ("message", .string(sentence))]
    ).print()
  }

  /// - Parameter limitation: the present reduction of quality; nil: none any more.
  func limited(_ limitation: QualityLimitation?) {
    guard case .json = style else { return }
    let size = limitation?.size
    OutputEvent(
      .limitation,
      [
        ("reason", .string(limitation?.reason.rawValue ?? "none")),
        ("rate_bps", limitation.map { .count($0.rate.bitsPerSecond) } ?? .null),
        ("fps", .optional(limitation?.frameRate)), ("width", size.map { .count($0.width) } ?? .null),
        ("height", size.map { .count($0.height) } ?? .null), ("coarse", .bool(limitation?.isCoarse ?? false)),
        ("message", .optional(limitation?.sentence)),
      ]
    ).print()
  }

  /// - Parameter sentence: why the source delivers nothing for the time being; nil: it delivers.
  func sourceChanged(_ sentence: String?) {
    guard case .json = style else { return }
    OutputEvent(
      .source, [("state", .string(sentence == nil ? "live" : "stalled")), ("message", .optional(sentence))]
    ).print()
  }

  func statistics(_ report: StatisticsReport) {
    switch style {
    case .json: report.event.print()
    case .plain: Terminal.print(report.line(publishing: isPublishing).fitted(to: .max))
    case .live:
      let line = report.line(publishing: isPublishing).fitted(to: Terminal.size.columns - 1)
      Terminal.showLive(line)
    }
  }

  var isLive: Bool { if case .live = style { true } else { false } }

  /// The recording ended with an error; the cast continues.
  func recordingFailed(_ sentence: String) {
    if case .json = style { OutputEvent.recordingFailed(sentence).print() }
    Terminal.complain(sentence)
  }

  /// A segment of the recording is complete.
  func recorded(_ path: String, bytes: Int64) {
    if case .json = style { OutputEvent.recorded(path, bytes: bytes).print() }
  }

  func recorded(_ progress: RecordingProgress) {
    switch style {
    case .json: if progress.hasFile { OutputEvent.recorded(progress).print() }
    case .plain: break
    case .live: Terminal.print("  " + progress.sentence)
    }
  }

  func commandStarted(_ stage: RunStage) {
    guard case .json = style else { return }
    OutputEvent(
      .run,
      [
        ("state", "started"), ("display", .string(stage.display)), ("xauthority", .string(stage.plan.folder.key)),
        ("sound", .bool(stage.hasSound)),
      ]
    ).print()
  }

  func commandEnded(_ status: Int32) {
    guard case .json = style else { return }
    OutputEvent(.run, [("state", "ended"), ("status", .count(status))]).print()
  }

  /// The command could not be started.
  func commandRefused(_ sentence: String, status: Int32) {
    if case .json = style {
      OutputEvent(.run, [("state", "failed"), ("status", .count(status)), ("message", .string(sentence))]).print()
    }
    Terminal.complain(sentence)
  }

  /// - Parameter after: the duration of the cast, in seconds.
  func ended(_ ending: CastEnding, after seconds: Int64) {
    switch style {
    case .json: OutputEvent.ended(ending.word).print()
    case .plain: break
    case .live:
      Terminal.showLive("")
      Terminal.print("  Stopped after \(Figures.duration(seconds: seconds)).")
    }
  }

  /// Reports a failure with the same sentence for programs and people.
  func failed(_ failure: CastFailure) {
    Terminal.showLive("")
    if case .json = style { OutputEvent.failed(failure).print() }
    Terminal.complain(failure.sentence)
  }
}
