internal import CFFmpeg
internal import CLinux
internal import Glibc
internal import RTCCodecFFmpeg
internal import RTCIsolation
internal import RTCMedia
internal import RTCPrimitives

/// The life of the process in which a file is demuxed and decoded. Its program calls `run` and ends with what that returns.
package enum FileHost {
  /// A request that takes longer, without a byte of the file being asked for, ends the process, should nobody be there any more to
  /// do that.
  static let longestStep: Int32 = 30
  /// Bytes of one picture's memory at most: 64 megapixels of full colour, with margins.
  package static let largestSegment: Int64 = 256 << 20

  /// Reads and decodes the file whose bytes the other side of descriptor 3 gives, until that side is gone. All rights of the
  /// process are given up before the first byte.
  /// - Parameter beforePictures: called before the packet of that number, from 1, is decoded, for tests.
  /// - Returns: the exit status; nil when descriptor 3 is no such connection, so that this was not started by rtcast.
  package static func run(beforePictures: @escaping (Int) -> Void = { _ in }) -> Int32? {
    guard let socket = ParentConnection.open() else { return nil }
    signal(SIGALRM, SIG_DFL)
    clinux_share_heap()
    // There is no later.
    _ = cffmpeg_missing()
    socket.send(
      FileAnswer.ready(Confinement.enter(largestSegment: largestSegment)).bytes, isPatient: true)
    let hosted = HostedFile(socket, beforePictures)
    var room: [UInt8] = []
    while case .message(let count, let descriptor) = socket.receiveBytes(into: &room) {
      if let descriptor { close(descriptor) }
      guard let (request, released) = FileRequest.parse(room.span.extracting(first: count)) else { return 0 }
      hosted.release(released)
      clinux_set_deadline(longestStep)
      let isDone = hosted.answer(request)
      clinux_set_deadline(0)
      guard isDone else { return 0 }
    }
    return 0
  }
}

/// The bytes of a file that the other side has opened.
private final class ChannelBytes: FileBytes {
  private let socket: MessageSocket
  private var room: [UInt8] = []

  init(_ socket: MessageSocket) { self.socket = socket }

  func read(at offset: Int64, into target: UnsafeMutableRawBufferPointer) -> Int {
    let wanted = min(target.count, FileAnswer.mostPayload)
    guard let (status, place, count) = ask(.bytesWanted(offset: offset, count: wanted), FileRequest.bytes) else {
      return Int(-EIO)
    }
    guard status > 0 else { return Int(status) }
    guard status == Int64(count - place), status <= wanted else { return Int(-EIO) }
    room.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[place..<count])) }
    return Int(status)
  }

  var size: Int64 { ask(.sizeWanted, FileRequest.size)?.status ?? -1 }

  /// - Returns: the number in the reply, and where in `room` what follows it is; nil: the other side is gone.
  private func ask(_ question: FileAnswer, _ kind: UInt8) -> (status: Int64, place: Int, end: Int)? {
    clinux_set_deadline(0)
    defer { clinux_set_deadline(FileHost.longestStep) }
    guard socket.send(question.bytes, isPatient: true),
      case .message(let count, let descriptor) = socket.receiveBytes(into: &room)
    else { exit(0) }
    if let descriptor { close(descriptor) }
    let message = room
    guard let (status, place) = Self.status(message.span.extracting(first: count), kind) else { exit(0) }
    return (status, place, count)
  }

  private static func status(_ message: Span<UInt8>, _ kind: UInt8) -> (Int64, place: Int)? {
    var reader = ByteReader(message)
    guard reader.readUInt8() == kind, let status = reader.readInt64() else { return nil }
    return (status, reader.offset)
  }
}

/// A file as its process has it, and the requests that it answers.
private final class HostedFile {
  /// Packets that are read for one request, and bytes of those that are sent.
  private static let mostPackets = 8
  private static let mostBytes = 128 * 1024

  private let socket: MessageSocket
  private let memory: SharedDecoderMemory
  private let beforePictures: (Int) -> Void
  private var lent: LentPictures
  private var media: OwnFileMedia?
  private let counters = PictureCounters()
  private var packets: [UInt64: PacketPayload] = [:]
  private var lastPacket: UInt64 = 0
  private var (sendsPictures, sendsSound) = (false, false)
  private var pictureNumber = 0

  init(_ socket: MessageSocket, _ beforePictures: @escaping (Int) -> Void) {
    self.socket = socket
    self.beforePictures = beforePictures
    memory = SharedDecoderMemory(socket, largest: FileHost.largestSegment)
    lent = LentPictures(memory)
  }

  func release(_ released: FileRequest.Released) {
    lent.takeBack(released.slots)
    for packet in released.packets { packets[packet] = nil }
  }

  /// False when the other side is gone, or asks what cannot be.
  func answer(_ request: FileRequest) -> Bool {
    if case .open(let wantsAudio, let ending) = request { return open(wantsAudio, ending) }
    guard let media else { return false }
    switch request {
    case .open: return false
    case .prepare(let sendsPictures, let sendsSound):
      (self.sendsPictures, self.sendsSound) = (sendsPictures, sendsSound)
      return say(.prepared(media.prepare(sendsPictures: sendsPictures, sendsSound: sendsSound, counters: counters)))
    case .read: return read(media)
    case .seek(let time): return say(.moved(media.seek(to: time)))
    case .rewind: return say(.moved(media.rewind()))
    case .decodePictures(let packet, let stamp, let decodeTime, let selection):
      guard let payload = packets[packet] else { return false }
      payload.setStamp(stamp)
      pictureNumber += 1
      beforePictures(pictureNumber)
      let converted = counters.converted
      return give(media.decodePictures(payload, at: decodeTime, selection), since: converted)
    case .finishPictures(let selection, let showsHeld):
      let converted = counters.converted
      return give(media.finishPictures(selection, showsHeld: showsHeld), since: converted)
    case .decodeSound(let packet, let stamp):
      guard let payload = packets[packet] else { return false }
      payload.setStamp(stamp)
      return give(media.decodeSound(payload))
    case .finishSound: return give(media.finishSound())
    case .reset(let isPicture):
      media.reset(isPicture ? .video : .audio)
      return say(.done)
    }
  }

  private func say(_ answer: FileAnswer) -> Bool { socket.send(answer.bytes, isPatient: true) }

  private func open(_ wantsAudio: Bool, _ ending: String) -> Bool {
    guard media == nil else { return false }
    do throws(FileFault) {
      let media = try OwnFileMedia(
        ChannelBytes(socket), ending: ending, wantsAudio: wantsAudio, memory: memory)
      guard media.contents.video?.isDrawable ?? true else { return say(.refused(.nothingToPlay)) }
      self.media = media
      return say(.opened(media.contents, start: media.start))
    } catch {
      return say(.refused(error))
    }
  }

  private func read(_ media: OwnFileMedia) -> Bool {
    var sent = 0
    for _ in 0..<Self.mostPackets where sent < Self.mostBytes {
      switch media.read() {
      case .packet(let packet):
        guard send(packet, start: media.start) else { return false }
        sent += packet.payload.count
      case .end: return say(.fileEnd)
      case .failure(let failure): return say(.failure(failure))
      }
    }
    return say(.packetsEnd)
  }

  private func send(_ packet: FilePacket, start: Int64?) -> Bool {
    let payload = packet.payload
    let isWanted = packet.isPicture ? sendsPictures : sendsSound
    // One of that length is of no use to a viewer; as one that is empty it is left out.
    let hasBytes = isWanted && payload.count <= FileAnswer.largestPacket
    lastPacket += 1
    packets[lastPacket] = payload
    let head = FileAnswer.Packet(
      id: lastPacket, isPicture: packet.isPicture, isKeyFrame: packet.isKeyFrame, pts: packet.pts, dts: packet.dts,
      duration: packet.duration, cut: packet.cut, nextKeyFrame: packet.nextKeyFrame, count: payload.count,
      hasBytes: hasBytes,
      newExtradata: payload.newExtradata.flatMap { $0.count <= FileAnswer.longestExtradata ? $0 : nil },
      start: start)
    guard say(.packet(head)) else { return false }
    guard hasBytes else { return true }
    return sendParts([FileAnswer.partKind], payload.bytes)
  }

  private func sendParts(_ head: [UInt8], _ bytes: Span<UInt8>) -> Bool {
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + FileAnswer.mostPayload)
      guard socket.send(head, followedBy: bytes.extracting(start..<end)) == nil else { return false }
      start = end
    }
    return true
  }

  /// - Parameter converted: how many pictures had been converted before.
  private func give(_ pictures: DecodedPictures, since converted: Int) -> Bool {
    for item in pictures.items {
      // Without room for it, it counts as one that was not decoded.
      guard FileAnswer.sides.contains(item.buffer.size.width), FileAnswer.sides.contains(item.buffer.size.height),
        var shared = lent.lend(item.buffer, item.colorSpace)
      else { continue }
      shared.captureTime = .zero + item.time
      shared.rotation = item.rotation
      guard say(.picture(shared, duration: min(item.duration, .nanoseconds(FileAnswer.latestTime)))) else {
        return false
      }
    }
    return say(
      .pictures(made: pictures.made, newest: pictures.newest, converted: max(0, counters.converted - converted)))
  }

  private func give(_ pieces: [SoundPiece]) -> Bool {
    for piece in pieces {
      let samples = FileAnswer.mostPayload / MemoryLayout<Float>.size
      var start = 0
      while start < piece.samples.count {
        let end = min(piece.samples.count, start + samples)
        let head = FileAnswer.sound(
          piece.format, time: piece.time, isContinued: end < piece.samples.count, offset: 0)
        let failure = piece.samples.withUnsafeBytes { bytes in
          socket.send(
            head.bytes,
            followedBy: Span(_unsafeElements: bytes.bindMemory(to: UInt8.self)).extracting(
              start * 4..<end * 4))
        }
        guard failure == nil else { return false }
        start = end
      }
    }
    return say(.soundEnd)
  }
}
