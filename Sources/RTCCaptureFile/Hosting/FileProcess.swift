internal import Glibc
internal import RTCCodecFFmpeg
internal import RTCIsolation
internal import RTCMedia
internal import RTCNet
internal import RTCPrimitives

/// The process that reads a file, as its parent has it: one request at a time, and the bytes that it asks for meanwhile. Used by
/// one thread at a time; pictures and packets may be let go on any.
final class FileProcess {
  private static let mostPixels = CodecContext.mostPixels
  /// Shared memory of one file in all.
  private static let mostShared = 2 << 30
  /// Answers to one request at most, without questions for bytes: pictures, their memory, packets and their parts.
  private static let mostAnswers = 20_000
  /// Samples of one piece of sound at most.
  private static let mostSamples = 1 << 22
  /// Packets for one request at most.
  private static let mostPackets = 64

  private let child: UntrustedChild
  private let bytes: any FileBytes
  private let patience: FileHosts.Patience
  private let released = ReleasedPackets()
  private var room: [UInt8] = []
  private var block: [UInt8] = []
  /// Answers to the request that is under way, and when it must be done.
  private var answers = 0
  private var deadline = Timestamp.distantFuture
  /// The longest wait of the socket for a message; nil means without limit.
  private var patienceSet: TimeDelta?

  /// Takes over a process that was started.
  init(_ child: ChildProcess, bytes: any FileBytes, patience: FileHosts.Patience) {
    self.child = UntrustedChild(
      child, segments: SharedSegments(largest: FileHost.largestSegment, most: Self.mostShared))
    self.bytes = bytes
    self.patience = patience
  }

  // MARK: - Requests

  /// The rights that the process still has; its first message reports them.
  func whenReady() throws(UntrustedChild.Loss) -> Confinement {
    begin(patience.start)
    guard case .ready(let confinement) = try next() else { throw child.lost(nil) }
    return confinement
  }

  func open(
    wantsAudio: Bool, ending: String
  ) throws(UntrustedChild.Loss) -> Result<(FileContents, start: Int64?), FileFault> {
    try send(.open(wantsAudio: wantsAudio, ending: ending))
    switch try next() {
    case .opened(let contents, let start): return .success((contents, start))
    case .refused(let fault): return .failure(fault)
    default: throw child.lost(nil)
    }
  }

  func prepare(sendsPictures: Bool, sendsSound: Bool) throws(UntrustedChild.Loss) -> FileDecoders {
    try send(.prepare(sendsPictures: sendsPictures, sendsSound: sendsSound))
    guard case .prepared(let decoders) = try next() else { throw child.lost(nil) }
    return decoders
  }

  /// A few of the next steps, each with where the file's timestamps begin if that is known by then.
  func read() throws(UntrustedChild.Loss) -> [(FileStep, start: Int64?)] {
    try send(.read)
    var steps: [(FileStep, start: Int64?)] = []
    while true {
      switch try next() {
      case .packet(let packet):
        guard steps.count < Self.mostPackets else { throw child.lost(nil) }
        steps.append((.packet(try take(packet)), packet.start))
      case .packetsEnd:
        guard !steps.isEmpty else { throw child.lost(nil) }
        return steps
      case .fileEnd: return steps + [(.end, nil)]
      case .failure(let failure): return steps + [(.failure(failure), nil)]
      default: throw child.lost(nil)
      }
    }
  }

  func move(_ request: FileRequest) throws(UntrustedChild.Loss) -> Bool {
    try send(request)
    guard case .moved(let isDone) = try next() else { throw child.lost(nil) }
    return isDone
  }

  /// - Parameter counters: count the pictures.
  func pictures(_ request: FileRequest, _ counters: PictureCounters) throws(UntrustedChild.Loss) -> DecodedPictures {
    try send(request)
    var pictures = DecodedPictures()
    while true {
      switch try next() {
      case .picture(let picture, let duration):
        guard
          let buffer = child.segments.buffer(
            of: picture, mostPixels: Self.mostPixels, release: { counters.noteRelease() })
        else { throw child.lost(nil) }
        counters.noteLease()
        pictures.items.append(
          PictureItem(
            buffer: buffer, colorSpace: picture.colorSpace, rotation: picture.rotation,
            time: picture.captureTime - .zero, duration: duration))
      case .pictures(let made, let newest, let converted):
        pictures.made = made
        pictures.newest = newest
        counters.noteConversions(converted)
        return pictures
      default: throw child.lost(nil)
      }
    }
  }

  func sound(_ request: FileRequest) throws(UntrustedChild.Loss) -> [SoundPiece] {
    try send(request)
    var pieces: [SoundPiece] = []
    var isUnderway = false
    var total = 0
    while true {
      switch try next() {
      case .sound(let format, let time, let isContinued, let offset):
        guard let samples = samples(from: offset, channels: format.channels), total + samples.count <= Self.mostSamples
        else { throw child.lost(nil) }
        total += samples.count
        if isUnderway, let last = pieces.last {
          guard last.format == format, last.time == time else { throw child.lost(nil) }
          pieces[pieces.count - 1].samples += samples
        } else {
          pieces.append(SoundPiece(format: format, samples: samples, time: time))
        }
        isUnderway = isContinued
      case .soundEnd:
        guard !isUnderway else { throw child.lost(nil) }
        return pieces
      default: throw child.lost(nil)
      }
    }
  }

  func reset(isPicture: Bool) throws(UntrustedChild.Loss) {
    try send(.reset(isPicture: isPicture))
    guard case .done = try next() else { throw child.lost(nil) }
  }

  // MARK: - Answers

  /// The packet with its bytes, which come in messages of their own.
  private func take(_ packet: FileAnswer.Packet) throws(UntrustedChild.Loss) -> FilePacket {
    var bytes: [UInt8] = []
    // The memory grows with what is really sent.
    while packet.hasBytes, bytes.count < packet.count {
      guard case .part(let offset) = try next(), offset < count, count - offset <= packet.count - bytes.count else {
        throw child.lost(nil)
      }
      bytes += room[offset..<count]
    }
    return FilePacket(
      payload: PacketPayload(
        id: packet.id, bytes: bytes, count: packet.count, newExtradata: packet.newExtradata, released: released),
      isPicture: packet.isPicture, isKeyFrame: packet.isKeyFrame, pts: packet.pts, dts: packet.dts,
      duration: packet.duration, cut: packet.cut, nextKeyFrame: packet.nextKeyFrame)
  }

  /// The samples at the end of the message; nil when they are none. What is no number is silence.
  private func samples(from offset: Int, channels: Int) -> [Float]? {
    let size = MemoryLayout<Float>.size
    let length = count - offset
    guard length > 0, length % (size * channels) == 0 else { return nil }
    return room.withUnsafeBytes { bytes in
      (0..<length / size).map { index in
        let sample = bytes.loadUnaligned(fromByteOffset: offset + index * size, as: Float.self)
        return sample.isNaN ? 0 : min(1, max(-1, sample))
      }
    }
  }

  /// Bytes of the message in `room`.
  private var count = 0

  /// The next answer that is no question for bytes; shared memory is mapped before it returns.
  private func next() throws(UntrustedChild.Loss) -> FileAnswer {
    while true {
      let arrival = child.socket.receiveBytes(into: &room)
      guard case .message(let count, let descriptor) = arrival else { throw child.lost(arrival) }
      defer { if let descriptor { close(descriptor) } }
      self.count = count
      guard let answer = FileAnswer(parsing: room.span.extracting(first: count)) else { throw child.lost(nil) }
      guard MonotonicClock.now() < deadline else { throw child.lost(.silence) }
      switch answer {
      case .bytesWanted(let offset, let count): try giveBytes(at: offset, count)
      case .sizeWanted:
        let isSent = child.socket.send(Self.head(FileRequest.size, bytes.size), isPatient: true)
        guard isSent else { throw child.lost(.end) }
      default:
        answers += 1
        guard answers <= Self.mostAnswers else { throw child.lost(nil) }
        guard case .segment(let slot) = answer else { return answer }
        // At any time: the decoder of pictures has threads that work on.
        guard let descriptor, child.segments.map(descriptor, as: Int(slot)) else { throw child.lost(nil) }
      }
    }
  }

  private func giveBytes(at offset: Int64, _ count: Int) throws(UntrustedChild.Loss) {
    if block.count < FileAnswer.mostPayload { block = [UInt8](repeating: 0, count: FileAnswer.mostPayload) }
    let status = block.withUnsafeMutableBytes {
      bytes.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<count]))
    }
    let head = Self.head(FileRequest.bytes, Int64(status))
    if let failure = child.socket.send(head, followedBy: block.span.extracting(first: max(0, status))) {
      throw child.lost(failure)
    }
  }

  private static func head(_ kind: UInt8, _ number: Int64) -> [UInt8] {
    var writer = MessageWriter(kind: kind, capacity: 16)
    writer.write(number)
    return writer.bytes
  }

  // MARK: - One request

  private func send(_ request: FileRequest) throws(UntrustedChild.Loss) {
    begin(patience.silence)
    let message = request.bytes(
      FileRequest.Released(
        slots: child.segments.takeReleased(), packets: released.take(FileRequest.Released.mostPackets)))
    guard child.socket.send(message, isPatient: true) else { throw child.lost(.end) }
  }

  private func begin(_ silence: TimeDelta) {
    if silence != patienceSet {
      child.socket.setPatience(silence)
      patienceSet = silence
    }
    answers = 0
    deadline = MonotonicClock.now() + patience.request
  }
}
