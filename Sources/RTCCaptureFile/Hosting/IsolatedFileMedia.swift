internal import Glibc
internal import RTCCodecFFmpeg
internal import RTCIsolation
internal import RTCMedia
internal import RTCNet
internal import RTCPrimitives

/// A file that is demuxed and decoded in a process without rights. The process has no file: it is given the bytes that it asks
/// for. It is not trusted: a message that makes no sense ends it.
final class IsolatedFileMedia: FileMedia {
  /// The file to open; after the loss of a process, it is opened again.
  struct File {
    var path: String
    var ending: String
    var wantsAudio: Bool
    var bytes: OpenFile
  }

  let contents: FileContents
  private(set) var start: Int64?
  private let file: File
  private let hosts: FileHosts
  /// The process that reads the file; nil after it was lost.
  private var process: FileProcess?
  /// Read ahead of what was asked for.
  private var steps = StepQueue()
  private var preparation: (sendsPictures: Bool, sendsSound: Bool, counters: PictureCounters)?
  private var restarts = RestartLimit()

  init(_ child: ChildProcess, file: File, hosts: FileHosts) throws(CaptureError) {
    let process = FileProcess(child, bytes: file.bytes, patience: hosts.patience)
    let opened: Result<(FileContents, start: Int64?), FileFault>
    do throws(UntrustedChild.Loss) {
      let confinement = try process.whenReady()
      if !confinement.isWhole { hosts.report(confinement.shortcoming(of: "files")) }
      opened = try process.open(wantsAudio: file.wantsAudio, ending: file.ending)
    } catch {
      throw .unavailable(
        "\(file.path) is not played. The process that reads it \(error.words); the file is damaged, or made to do that."
      )
    }
    switch opened {
    case .success(let (contents, start)):
      self.contents = contents
      self.start = start
    case .failure(let fault): throw FileRefusal.error(fault, file.path, wantsAudio: file.wantsAudio)
    }
    self.process = process
    self.file = file
    self.hosts = hosts
  }

  func prepare(
    sendsPictures: Bool, sendsSound: Bool, counters: PictureCounters
  ) throws(FileLoss) -> FileDecoders {
    preparation = (sendsPictures, sendsSound, counters)
    return try ask { process throws(UntrustedChild.Loss) in
      try process.prepare(sendsPictures: sendsPictures, sendsSound: sendsSound)
    }
  }

  func read() throws(FileLoss) -> FileStep {
    if steps.isEmpty {
      steps = StepQueue(try ask { process throws(UntrustedChild.Loss) in try process.read() })
    }
    guard let (step, start) = steps.take() else { return .end }
    if let start { self.start = start }
    return step
  }

  func seek(to time: Int64) throws(FileLoss) -> Bool {
    steps = StepQueue()
    return try ask { process throws(UntrustedChild.Loss) in try process.move(.seek(time)) }
  }

  func rewind() throws(FileLoss) -> Bool {
    steps = StepQueue()
    return try ask { process throws(UntrustedChild.Loss) in try process.move(.rewind) }
  }

  func decodePictures(
    _ packet: PacketPayload, at decodeTime: TimeDelta, _ selection: PictureSelection
  ) throws(FileLoss) -> DecodedPictures {
    guard let id = packet.id, let counters = preparation?.counters else { return DecodedPictures() }
    let request = FileRequest.decodePictures(packet: id, stamp: packet.stamp, decodeTime: decodeTime, selection)
    return try ask { process throws(UntrustedChild.Loss) in try process.pictures(request, counters) }
  }

  func finishPictures(_ selection: PictureSelection, showsHeld: Bool) throws(FileLoss) -> DecodedPictures {
    // A lost process holds no pictures.
    guard process != nil, let counters = preparation?.counters else { return DecodedPictures() }
    return try ask { process throws(UntrustedChild.Loss) in
      try process.pictures(.finishPictures(selection, showsHeld: showsHeld), counters)
    }
  }

  func decodeSound(_ packet: PacketPayload) throws(FileLoss) -> [SoundPiece] {
    guard let id = packet.id else { return [] }
    return try ask { process throws(UntrustedChild.Loss) in
      try process.sound(.decodeSound(packet: id, stamp: packet.stamp))
    }
  }

  func finishSound() throws(FileLoss) -> [SoundPiece] {
    guard process != nil else { return [] }
    return try ask { process throws(UntrustedChild.Loss) in try process.sound(.finishSound) }
  }

  func reset(_ kind: PlayerState.Kind) throws(FileLoss) {
    guard process != nil else { return }
    try ask { process throws(UntrustedChild.Loss) in try process.reset(isPicture: kind == .video) }
  }

  // MARK: - The end of the process, and the next one

  func recover(from loss: FileLoss) throws(FileLoss) {
    guard restarts.allows(at: MonotonicClock.now()) else {
      throw FileLoss(
        sentence:
          "\(loss.sentence) That was once too often: \(file.path) is damaged, or made to do that, and ends here.")
    }
    let child: ChildProcess
    do throws(SystemError) { child = try hosts.start() } catch {
      throw FileLoss(sentence: "\(loss.sentence) \(error)")
    }
    steps = StepQueue()
    process = FileProcess(child, bytes: file.bytes, patience: hosts.patience)
    try reopen(after: loss)
    hosts.report("\(loss.sentence) Another one goes on from there.")
  }

  private func reopen(after loss: FileLoss) throws(FileLoss) {
    let opened = try ask { process throws(UntrustedChild.Loss) in
      _ = try process.whenReady()
      return try process.open(wantsAudio: file.wantsAudio, ending: file.ending)
    }
    guard case .success(let (again, start)) = opened, (again.video == nil) == (contents.video == nil),
      (again.audio == nil) == (contents.audio == nil)
    else {
      process = nil
      throw FileLoss(sentence: "\(loss.sentence) \(file.path) is another file by now.")
    }
    self.start = start
    guard let preparation else { return }
    _ = try prepare(
      sendsPictures: preparation.sendsPictures, sendsSound: preparation.sendsSound, counters: preparation.counters)
  }

  private func ask<Answer>(
    _ body: (FileProcess) throws(UntrustedChild.Loss) -> Answer
  ) throws(FileLoss) -> Answer {
    guard let process else { throw FileLoss(sentence: "The process that reads \(file.path) has ended.") }
    do throws(UntrustedChild.Loss) { return try body(process) } catch {
      self.process = nil
      steps = StepQueue()
      throw FileLoss(sentence: "The process that reads \(file.path) \(error.words).")
    }
  }
}

/// Steps that were read at once, each with where the file's timestamps begin if that is known by then.
private struct StepQueue {
  private var steps: [(FileStep, start: Int64?)]
  private var next = 0

  init(_ steps: [(FileStep, start: Int64?)] = []) { self.steps = steps }

  var isEmpty: Bool { next == steps.count }

  mutating func take() -> (FileStep, start: Int64?)? {
    guard !isEmpty else { return nil }
    defer { next += 1 }
    return steps[next]
  }
}
