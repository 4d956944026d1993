package import RTCIsolation
package import RTCMedia
package import RTCPrimitives

/// A message from the process that reads a file. The process is not trusted: a malformed message is nil, and every
/// number is within bounds that later sums cannot leave.
package enum FileAnswer: Sendable {
  /// The first message: the rights that the process still has.
  case ready(Confinement)
  /// The file is open; where its timestamps begin.
  case opened(FileContents, start: Int64?)
  case refused(FileFault)
  case prepared(FileDecoders)
  /// Before the answer to a request: bytes of the file, and its size.
  case bytesWanted(offset: Int64, count: Int)
  case sizeWanted
  /// A packet of `Packet.count` bytes, if they are wanted, in the messages that follow.
  case packet(Packet)
  /// The bytes of a packet, from `offset` of the message on.
  case part(offset: Int)
  /// No more packets come for this request.
  case packetsEnd
  case fileEnd
  case failure(FileReadFailure)
  case moved(Bool)
  /// Shared memory for `slot`, in place of the memory before; its descriptor comes with the message.
  case segment(slot: UInt8)
  case picture(SharedPicture, duration: TimeDelta)
  /// The last answer to a request for pictures.
  case pictures(made: Int, newest: TimeDelta?, converted: Int)
  /// Sound, whose samples begin at `offset` of the message; `isContinued`: more of the same piece follows.
  case sound(AudioFormat, time: TimeDelta, isContinued: Bool, offset: Int)
  /// The last answer to a request for sound.
  case soundEnd
  /// The answer to `reset`.
  case done

  /// A packet without its bytes.
  package struct Packet: Hashable, Sendable {
    package var id: UInt64
    package var isPicture: Bool
    package var isKeyFrame: Bool
    package var pts: Int64?
    package var dts: Int64?
    package var duration: Int64
    package var cut: Int64
    package var nextKeyFrame: Int64?
    package var count: Int
    /// Whether `part` messages with its bytes follow.
    package var hasBytes: Bool
    package var newExtradata: [UInt8]?
    /// The begin of the file's timestamps, as far as it is known by now.
    package var start: Int64?
  }

  /// Bytes of a packet that are sent at most.
  package static let largestPacket = 64 << 20
  /// Bytes of a packet, or of sound, in one message.
  package static let mostPayload = 60 * 1024
  /// Longer global headers are not passed on.
  package static let longestExtradata = 32 * 1024
  /// Times on the media timeline are within this.
  package static let latestTime = PacketTiming.latestMediaTime + PacketTiming.latestTime
  /// The allowed widths and heights of pictures, in pixels.
  package static let sides = 1...65_535

  /// The first byte of a message with bytes of a packet.
  package static let partKind: UInt8 = 103

  package var bytes: [UInt8] {
    switch self {
    case .ready(let confinement):
      var writer = MessageWriter(kind: 96)
      writer.write(Int(confinement.error))
      writer.write(Int(confinement.rightsLeft.rawValue))
      return writer.bytes
    case .opened(let contents, let start):
      var writer = MessageWriter(kind: 97, capacity: 1024)
      contents.write(to: &writer)
      writer.write(start)
      return writer.bytes
    case .refused(let fault):
      var writer = MessageWriter(kind: 98)
      writer.write(fault.number)
      if case .undecodable(let codec) = fault { writer.write(codec) }
      return writer.bytes
    case .prepared(let decoders):
      var writer = MessageWriter(kind: 99)
      writer.write(decoders.decodesPictures)
      writer.write(decoders.decodesSound)
      return writer.bytes
    case .bytesWanted(let offset, let count):
      var writer = MessageWriter(kind: 100, capacity: 20)
      writer.write(offset)
      writer.write(count)
      return writer.bytes
    case .sizeWanted: return [101]
    case .packet(let packet):
      var writer = MessageWriter(kind: 102, capacity: 128 + (packet.newExtradata?.count ?? 0))
      packet.write(to: &writer)
      return writer.bytes
    case .part: return [Self.partKind]
    case .packetsEnd: return [104]
    case .fileEnd: return [105]
    case .failure(let failure): return [106, failure.rawValue]
    case .moved(let isDone): return [107, isDone ? 1 : 0]
    case .segment(let slot): return [ChannelMessage.segment, slot]
    case .picture(let picture, let duration):
      var writer = MessageWriter(kind: ChannelMessage.picture)
      writer.write(duration.nanoseconds)
      picture.write(to: &writer)
      return writer.bytes
    case .pictures(let made, let newest, let converted):
      var writer = MessageWriter(kind: 108)
      writer.write(made)
      writer.write(newest?.nanoseconds)
      writer.write(converted)
      return writer.bytes
    case .sound(let format, let time, let isContinued, _):
      var writer = MessageWriter(kind: 109, capacity: 32)
      writer.write(format.sampleRate)
      writer.write(format.channels)
      writer.write(time.nanoseconds)
      writer.write(isContinued)
      return writer.bytes
    case .soundEnd: return [110]
    case .done: return [111]
    }
  }

  package init?(parsing message: Span<UInt8>) {
    var reader = ByteReader(message)
    guard let kind = reader.readUInt8(), let answer = Self.read(kind, &reader) else { return nil }
    self = answer
  }

  private static func read(_ kind: UInt8, _ reader: inout ByteReader) -> FileAnswer? {
    switch kind {
    case ChannelMessage.segment: return reader.readUInt8().map { .segment(slot: $0) }
    case ChannelMessage.picture, 108: return readPicture(kind, &reader)
    case 109: return readSound(&reader)
    case 110: return .soundEnd
    case 111: return .done
    case 102: return Packet(reading: &reader).map { .packet($0) }
    case partKind: return .part(offset: reader.offset)
    case 104: return .packetsEnd
    case 105: return .fileEnd
    case 106: return reader.readUInt8().flatMap { FileReadFailure(rawValue: $0) }.map { .failure($0) }
    case 107: return reader.readBool().map { .moved($0) }
    case 100:
      guard let offset = reader.readInt64(), let count = reader.readInt(), offset >= 0,
        (1...mostPayload).contains(count)
      else { return nil }
      return .bytesWanted(offset: offset, count: count)
    case 101: return .sizeWanted
    default: return readOpening(kind, &reader)
    }
  }

  private static func readOpening(_ kind: UInt8, _ reader: inout ByteReader) -> FileAnswer? {
    switch kind {
    case 96:
      guard let error = reader.readInt(), let rights = reader.readInt() else { return nil }
      return .ready(
        Confinement(
          error: Int32(truncatingIfNeeded: error),
          rightsLeft: Confinement.Rights(rawValue: UInt32(truncatingIfNeeded: rights))))
    case 97:
      guard let contents = FileContents(reading: &reader), let start = reader.readFileTime() else { return nil }
      return .opened(contents, start: start)
    case 98: return FileFault(reading: &reader).map { .refused($0) }
    case 99:
      guard let pictures = reader.readBool(), let sound = reader.readBool() else { return nil }
      return .prepared(FileDecoders(decodesPictures: pictures, decodesSound: sound))
    default: return nil
    }
  }

  private static func readPicture(_ kind: UInt8, _ reader: inout ByteReader) -> FileAnswer? {
    if kind == 108 {
      guard let made = reader.readInt(), let newest = reader.readMediaTime(), let converted = reader.readInt(),
        (0...mostPictures).contains(made), (0...mostPictures).contains(converted)
      else { return nil }
      return .pictures(made: made, newest: newest, converted: converted)
    }
    guard let duration = reader.readInt64(), (0...latestTime).contains(duration),
      let picture = SharedPicture(reading: &reader, sides: sides),
      (-latestTime...latestTime).contains(picture.captureTime.nanoseconds)
    else { return nil }
    return .picture(picture, duration: TimeDelta(nanoseconds: duration))
  }

  /// Pictures of one request at most: a decoder holds fewer.
  package static let mostPictures = 1_000

  private static func readSound(_ reader: inout ByteReader) -> FileAnswer? {
    guard let rate = reader.readInt(), let channels = reader.readInt(), let time = reader.readInt64(),
      let isContinued = reader.readBool(), (8_000...384_000).contains(rate), (1...2).contains(channels),
      (-latestTime...latestTime).contains(time)
    else { return nil }
    return .sound(
      AudioFormat(sampleRate: rate, channels: channels), time: TimeDelta(nanoseconds: time), isContinued: isContinued,
      offset: reader.offset)
  }
}

extension FileAnswer.Packet {
  fileprivate func write(to writer: inout MessageWriter) {
    writer.write(id)
    writer.write(isPicture)
    writer.write(isKeyFrame)
    writer.write(pts)
    writer.write(dts)
    writer.write(duration)
    writer.write(cut)
    writer.write(nextKeyFrame)
    writer.write(count)
    writer.write(hasBytes)
    writer.write(newExtradata != nil)
    writer.write(newExtradata ?? [])
    writer.write(start)
  }

  fileprivate init?(reading reader: inout ByteReader) {
    guard let id = reader.readUInt64(), let isPicture = reader.readBool(), let isKeyFrame = reader.readBool(),
      let pts = reader.readFileTime(), let dts = reader.readFileTime(), let duration = reader.readInt64(),
      let cut = reader.readInt64(), let nextKeyFrame = reader.readFileTime(), let count = reader.readInt(),
      let hasBytes = reader.readBool(), let hasExtradata = reader.readBool(),
      let extradata = reader.readBytes(FileAnswer.longestExtradata), let start = reader.readFileTime(),
      (0...PacketTiming.longestDuration).contains(duration), (0...PacketTiming.longestDuration).contains(cut),
      (1...Int(Int32.max)).contains(count), !hasBytes || count <= FileAnswer.largestPacket
    else { return nil }
    self.init(
      id: id, isPicture: isPicture, isKeyFrame: isKeyFrame, pts: pts, dts: dts, duration: duration, cut: cut,
      nextKeyFrame: nextKeyFrame, count: count, hasBytes: hasBytes, newExtradata: hasExtradata ? extradata : nil,
      start: start)
  }
}

extension FileFault {
  fileprivate var number: UInt8 {
    switch self {
    case .unknown: 0
    case .otherContainer: 1
    case .encrypted: 2
    case .undecodable: 3
    case .nothingToPlay: 4
    case .shortOfMemory: 5
    case .withoutFFmpeg: 6
    }
  }

  fileprivate init?(reading reader: inout ByteReader) {
    switch reader.readUInt8() {
    case 0: self = .unknown
    case 1: self = .otherContainer
    case 2: self = .encrypted
    case 3:
      guard let codec = reader.readName() else { return nil }
      self = .undecodable(codec: codec)
    case 4: self = .nothingToPlay
    case 5: self = .shortOfMemory
    case 6: self = .withoutFFmpeg
    default: return nil
    }
  }
}

extension ByteReader {
  /// Reads a time in the file. Nil when the message is cut short or the time is out of range; else the time or that
  /// there is none.
  fileprivate mutating func readFileTime() -> Int64?? {
    guard let time = readOptional() else { return nil }
    guard let time else { return .some(nil) }
    return (-PacketTiming.latestTime...PacketTiming.latestTime).contains(time) ? .some(time) : nil
  }

  /// Reads a time on the media timeline. Nil when the message is cut short or the time is out of range; else the time
  /// or that there is none.
  fileprivate mutating func readMediaTime() -> TimeDelta?? {
    guard let time = readOptional() else { return nil }
    guard let time else { return .some(nil) }
    return (-FileAnswer.latestTime...FileAnswer.latestTime).contains(time)
      ? .some(TimeDelta(nanoseconds: time)) : nil
  }

  fileprivate mutating func readBytes(_ most: Int) -> [UInt8]? {
    guard let count = readInt(), (0...most).contains(count), let bytes = read(count) else { return nil }
    return [UInt8](copying: bytes)
  }

  /// A name of FFmpeg's, as it may be shown.
  fileprivate mutating func readName() -> String? { readText().map { $0.foreignText() } }
}

// MARK: - Contents

extension FileContents {
  fileprivate func write(to writer: inout MessageWriter) {
    writer.write(containerName)
    writer.write(duration?.nanoseconds)
    writer.write(mayLeap)
    for stream in [video, audio] {
      writer.write(stream != nil)
      stream?.write(to: &writer)
    }
    writer.write(notices.count)
    for notice in notices {
      switch notice {
      case .highDynamicRange(let name):
        writer.write(UInt8(0))
        writer.write(name)
      case .undecodable(let isPicture, let codec):
        writer.write(UInt8(isPicture ? 1 : 2))
        writer.write(codec)
      }
    }
  }

  fileprivate init?(reading reader: inout ByteReader) {
    guard let name = reader.readName(), let duration = reader.readFileTime(), let mayLeap = reader.readBool() else {
      return nil
    }
    var streams: [Stream?] = []
    for _ in 0..<2 {
      guard let isThere = reader.readBool() else { return nil }
      guard isThere else {
        streams.append(nil)
        continue
      }
      guard let stream = Stream(reading: &reader) else { return nil }
      streams.append(stream)
    }
    guard duration ?? 1 > 0, streams.contains(where: { $0 != nil }), streams[0]?.isDrawable ?? true,
      let count = reader.readInt(),
      (0...4).contains(count)
    else { return nil }
    var notices: [Notice] = []
    for _ in 0..<count {
      guard let kind = reader.readUInt8(), kind <= 2, let text = reader.readName() else { return nil }
      notices.append(kind == 0 ? .highDynamicRange(text) : .undecodable(isPicture: kind == 1, codec: text))
    }
    self.init(
      containerName: name, duration: duration.map { TimeDelta(nanoseconds: $0) }, mayLeap: mayLeap, video: streams[0],
      audio: streams[1], notices: notices)
  }
}

extension FileContents.Stream {
  /// Pictures a second, where that is known.
  static let frameRates = 0.001...Double(Int32.max)

  /// Its pictures have a size that can be handed on.
  var isDrawable: Bool {
    [description.size, description.squareSize].allSatisfy {
      FileAnswer.sides.contains($0.width) && FileAnswer.sides.contains($0.height)
    }
  }

  /// Pictures that the container does not time last at most so long.
  private static let longestFrame: Int64 = 10_000_000_000

  fileprivate func write(to writer: inout MessageWriter) {
    let told = description
    writer.write(told.codecName)
    writer.write(told.extradata.count <= FileAnswer.longestExtradata ? told.extradata : [])
    for number in [
      told.profile, told.level, told.size.width, told.size.height, told.squareSize.width, told.squareSize.height,
      told.rotation.rawValue, told.reorderDepth, told.audio.sampleRate, told.audio.channels,
    ] { writer.write(number) }
    writer.write(told.isMirrored)
    writer.write(told.colorSpace.number)
    writer.write(frameDuration.nanoseconds)
    writer.write(frameRate)
    writer.write(pixelFormat.channelNumber)
  }

  fileprivate init?(reading reader: inout ByteReader) {
    guard let codec = reader.readName(), let extradata = reader.readBytes(FileAnswer.longestExtradata) else {
      return nil
    }
    var numbers: [Int] = []
    for _ in 0..<10 {
      guard let number = reader.readInt(), (-Int(Int32.max)...Int(Int32.max)).contains(number) else { return nil }
      numbers.append(number)
    }
    guard numbers[2...].allSatisfy({ $0 >= 0 }), let rotation = VideoRotation(rawValue: numbers[6]),
      let isMirrored = reader.readBool(), let color = reader.readUInt8().flatMap({ ColorSpace(number: $0) }),
      let duration = reader.readInt64(), (0...Self.longestFrame).contains(duration),
      let rate = reader.readDouble(), rate == 0 || Self.frameRates.contains(rate),
      let format = reader.readUInt8().flatMap({ PixelFormat(channelNumber: $0) })
    else { return nil }
    self.init(
      description: StreamDescription(
        codecName: codec, extradata: extradata, profile: numbers[0], level: numbers[1],
        size: PixelSize(width: numbers[2], height: numbers[3]),
        squareSize: PixelSize(width: numbers[4], height: numbers[5]), rotation: rotation, isMirrored: isMirrored,
        colorSpace: color, reorderDepth: numbers[7],
        audio: AudioFormat(sampleRate: numbers[8], channels: numbers[9])),
      frameDuration: TimeDelta(nanoseconds: duration), frameRate: rate, pixelFormat: format)
  }
}
