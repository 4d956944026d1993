import Glibc
import RTCMedia
import RTCNet
import RTCPrimitives

/// One run of a `PipeCapturer`, on its thread.
struct PipeRun {
  /// How a run ends.
  enum End {
    case stopped
    /// Before it started.
    case refused(CaptureError)
    case ended(CaptureEnd)
  }

  private enum Failure: Error {
    case stopped
    case refused(CaptureError)
    case ended(PipeEnding.Cause)

    init(_ halt: PipeReader.Halt) {
      self =
        switch halt {
        case .stopped: .stopped
        case .endOfInput: .ended(.endOfInput)
        case .failed(let errno): .ended(.failed(errno: errno))
        }
    }
  }

  /// The most pictures a second of a stream that states no rate.
  static let unstatedRate = 60.0
  /// The rate assumed for `arrival`: pictures never wait.
  private static let arrivalRate = 1000.0

  let input: PipeInput
  let options: PipeCapturer.Options
  /// The most pictures wanted a second.
  let limit: Double
  let notice: @Sendable (String) -> Void
  let run: WorkerRun
  private(set) var stream: PipeStream
  private var pacer: PipePacer
  /// Whether the consumer was told that it has started.
  private var isStarted = false

  init(
    input: PipeInput, options: PipeCapturer.Options, limit: Double, notice: @escaping @Sendable (String) -> Void,
    run: WorkerRun, stream: PipeStream
  ) {
    self.input = input
    self.options = options
    self.limit = limit
    self.notice = notice
    self.run = run
    self.stream = stream
    pacer = PipePacer(rate: 1, limit: 1)  // until the rate is known
  }

  mutating func deliver(to consumer: any VideoConsumer) -> End {
    do throws(Failure) {
      try checkOptions()
      let reader = try openStream()
      try readBeginning(reader)
      try showPictures(reader, to: consumer)
    } catch {
      return end(error)
    }
  }

  // MARK: - Beginning

  private func checkOptions() throws(Failure) {
    if case .raw(_, let size) = options.format,
      !(1...8192).contains(size.width) || !(1...8192).contains(size.height)
    {
      throw .refused(.unsupportedFormat("Raw pictures can be 1x1 to 8192x8192 pixels, not \(size)."))
    }
    for rate in [options.frameRate ?? 1, limit] where !(rate >= 0.01 && rate <= 1000) {
      throw .refused(.unsupportedFormat("A stream can have 0.01 to 1000 pictures a second, not \(rate)."))
    }
    if stream.isOver { throw .refused(.noSuchSource("The stream was read to its end; there is nothing more in it.")) }
  }

  private mutating func openStream() throws(Failure) -> PipeReader {
    if let connection = stream.connection { return PipeReader(connection: connection, run: run) }
    let connection: PipeConnection
    switch input {
    case .descriptor(let descriptor):
      if isatty(descriptor) == 1 {
        throw .refused(
          .noSuchSource(
            "Nothing is piped in: the input is a terminal. Pipe a stream into it, such as "
              + "`ffmpeg -i talk.mp4 -f yuv4mpegpipe - | rtcast pipe`, or name a --socket."))
      }
      connection = PipeConnection(descriptor: descriptor, isOurs: false)
    case .socket(let path): connection = try openSocket(UnixSocket(path: path))
    }
    stream.connection = connection
    return PipeReader(connection: connection, run: run)
  }

  /// Connects to the program that listens at the path, or listens there for a program that writes.
  private func openSocket(_ socket: UnixSocket) throws(Failure) -> PipeConnection {
    let published: PublishedSocket?
    do throws(UnixSocketError) {
      if let outward = try socket.connect() {
        return PipeConnection(descriptor: outward, isOurs: true)
      }
      published = try PublishedSocket.listen(at: socket, backlog: 1)
      // Another program may have begun to listen meanwhile.
      if published == nil, let outward = try socket.connect() {
        return PipeConnection(descriptor: outward, isOurs: true)
      }
    } catch {
      throw .refused(CaptureError(error))
    }
    if let published { return try acceptWriter(published, socket) }
    throw .refused(.unavailable("The socket \(socket.path) cannot be used: other programs make and remove it."))
  }

  private func acceptWriter(_ published: PublishedSocket, _ socket: UnixSocket) throws(Failure) -> PipeConnection {
    let listener = PipeConnection(descriptor: published.listener, isOurs: true)
    // One writer is enough; another program may then listen there.
    defer { if socket.file == published.file { socket.removeIfSocket() } }
    notice("Waiting for a program that writes to \(socket.path).")
    while true {
      do throws(PipeReader.Halt) { try PipeReader.wait(for: listener.descriptor, run) } catch { throw Failure(error) }
      let writer = accept(listener.descriptor, nil, nil)
      if writer >= 0 {
        _ = fcntl(writer, F_SETFD, FD_CLOEXEC)
        return PipeConnection(descriptor: writer, isOurs: true)
      }
      // The client left before it was accepted.
      guard errno == ECONNABORTED || errno == EINTR else { throw .ended(.failed(errno: errno)) }
    }
  }

  /// Reads up to where the first picture begins.
  private mutating func readBeginning(_ reader: PipeReader) throws(Failure) {
    guard stream.layout == nil else { return }
    let layout: PipeLayout
    switch options.format {
    case .raw(let format, let size):
      layout = PipeLayout(raw: format, size: size, colorSpace: options.colorSpace)
      stream.position = .picture(0)
    case .yuv4mpeg2:
      try readLine(reader)
      layout = try readHeader()
    }
    stream.layout = layout
    reader.connection.widen(for: layout.streamBytes)
  }

  /// Takes the line that was read for the stream's header.
  private mutating func readHeader() throws(Failure) -> PipeLayout {
    guard case .line(let line) = stream.position else { throw .ended(.noPicture) }
    let header: Y4MHeader
    do throws(Y4MError) { header = try Y4MHeader(parsing: line.span) } catch { throw .ended(.header(error)) }
    if header.isInterlaced { notice("The stream is interlaced; its pictures are shown as they are.") }
    if header.hasOddPixels { notice("The stream's pixels are not square; they are shown as if they were.") }
    stream.frameRate = header.frameRate
    stream.position = .line([])
    return PipeLayout(header, colorSpace: options.colorSpace)
  }

  /// Completes the line in `stream.position`, line feed left out.
  private mutating func readLine(_ reader: PipeReader) throws(Failure) {
    guard case .line(var line) = stream.position else { return }
    defer { stream.position = .line(line) }
    // The shortest line, "FRAME", at once; the rest byte by byte, so that nothing of the picture is read along.
    let shortest = 6
    while line.last != 0x0A {
      guard line.count <= Y4MHeader.longestLine else { throw .ended(.header(.lineTooLong)) }
      var piece = [UInt8](repeating: 0, count: max(1, shortest - line.count))
      let (filled, halt) = unsafe piece.withUnsafeMutableBytes { unsafe reader.fill($0, from: 0) }
      line += piece[..<filled]
      if !Self.canBegin(line) { throw .ended(stream.layout == nil ? .header(.notYUV4MPEG2) : .noPicture) }
      if let halt { throw Failure(halt) }
    }
    line.removeLast()
  }

  /// Something else altogether is found out by its first bytes, not after a line feed that may never come.
  private static func canBegin(_ line: [UInt8]) -> Bool {
    line.prefix(Y4MHeader.magic.count).elementsEqual(Y4MHeader.magic.prefix(line.count))
      || line.prefix(frameWord.count).elementsEqual(frameWord.prefix(line.count))
  }

  private static let frameWord = Array("FRAME".utf8)

  // MARK: - Pictures

  /// The rate at which pictures are due.
  private var streamRate: Double {
    switch options.pacing {
    case .streamRate: stream.frameRate ?? options.frameRate ?? Self.unstatedRate
    case .arrival: Self.arrivalRate
    }
  }

  /// The most pictures a second that are shown.
  private var shownRate: Double { min(limit, stream.frameRate ?? options.frameRate ?? Self.unstatedRate) }

  /// Only a failure ends it.
  private mutating func showPictures(_ reader: PipeReader, to consumer: any VideoConsumer) throws(Failure) -> Never {
    var pool = PipePool(stream.layout!)
    pacer = PipePacer(rate: streamRate, limit: limit)
    var last = Timestamp.zero
    while true {
      let began = MonotonicClock.now()
      if try readFrameLine(reader) {
        pool = PipePool(stream.layout!)
        pacer = PipePacer(rate: streamRate, limit: limit)
      }
      let picture = pool.free()
      guard try readPicture(reader, into: picture, of: pool) else { continue }
      let arrival = PipePacer.Arrival(
        began: began, completed: MonotonicClock.now(), isMoreWaiting: reader.connection.hasBytes)
      guard case .show(let moment) = pacer.decide(arrival) else { continue }
      pool.finish(picture)
      wait(until: moment)
      if run.isStopped { throw .stopped }
      start(consumer)
      last = max(moment, last + .nanoseconds(1))
      show(picture, at: last, to: consumer)
      pacer.noteShown(at: moment, until: MonotonicClock.now())
    }
  }

  /// Starts with the first complete picture: before that, it is unknown whether there is one.
  private mutating func start(_ consumer: any VideoConsumer) {
    guard !isStarted, let layout = stream.layout else { return }
    isStarted = true
    consumer.captureDidStart(
      .success(VideoFormat(size: layout.size, frameRates: 0...shownRate, pixelFormat: layout.format)))
  }

  private func show(_ picture: PipePicture, at moment: Timestamp, to consumer: any VideoConsumer) {
    consumer.consume(
      VideoFrame(buffer: picture.memory.lease(), captureTime: moment, colorSpace: stream.layout!.colorSpace))
  }

  private func wait(until moment: Timestamp) {
    while !run.isStopped, MonotonicClock.now() < moment { run.wait(until: moment) }
  }

  /// Reads what stands before a picture. A second header, as of two streams put one behind the other, is fine.
  /// - Returns: true when the format may have changed.
  private mutating func readFrameLine(_ reader: PipeReader) throws(Failure) -> Bool {
    guard options.format == .yuv4mpeg2, case .line = stream.position else { return false }
    try readLine(reader)
    guard case .line(let line) = stream.position else { return false }
    // Parameters of single pictures say nothing that would change how they are shown.
    if line.elementsEqual(Self.frameWord) || line.starts(with: Self.frameWord + [0x20]) {
      stream.position = .picture(0)
      return false
    }
    guard line.starts(with: Y4MHeader.magic) else { throw .ended(.noPicture) }
    let layout = try readHeader()
    stream.layout = layout
    reader.connection.widen(for: layout.streamBytes)
    return true
  }

  /// - Returns: false when it is the rest of a picture whose beginning went to an earlier run.
  private mutating func readPicture(
    _ reader: PipeReader, into picture: PipePicture, of pool: PipePool
  ) throws(Failure) -> Bool {
    guard case .picture(let start) = stream.position else { return false }
    let (filled, halt) = unsafe pool.fill(picture) { unsafe reader.fill($0, from: start) }
    if let halt {
      stream.position = .picture(filled)
      throw Failure(halt)
    }
    stream.position = options.format == .yuv4mpeg2 ? .line([]) : .picture(0)
    stream.pictures += 1
    return start == 0
  }

  // MARK: - End

  private mutating func end(_ failure: Failure) -> End {
    let cause: PipeEnding.Cause
    switch failure {
    case .stopped: return .stopped
    case .refused(let error): return .refused(error)
    case .ended(let why): cause = why
    }
    stream.isOver = true
    let ending = PipeEnding(cause: cause, stream: stream, format: options.format)
    guard isStarted else { return .refused(ending.refusal) }
    // The last picture is shown for as long as any other.
    if let due = pacer.nextDue, (due - MonotonicClock.now()).seconds <= 1 / streamRate { wait(until: due) }
    if run.isStopped { return .stopped }
    guard let complaint = ending.complaint else { return .ended(.finished) }
    if case .failed = cause { return .ended(.lost(complaint)) }
    // Everything whole was shown; that something is missing is worth knowing, but the end is an end.
    notice(complaint)
    return .ended(.finished)
  }
}
