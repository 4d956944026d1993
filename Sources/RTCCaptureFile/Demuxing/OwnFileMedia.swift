internal import CFFmpeg
internal import RTCCodecFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// A file that is demuxed and decoded in this process.
final class OwnFileMedia: FileMedia {
  let contents: FileContents
  private let bytes: any FileBytes
  private let ending: String
  private let wantsAudio: Bool
  private let memory: (any DecoderMemory)?
  private var file: MediaFile
  private var pictures: PictureDecoder?
  private var sound: SoundDecoder?

  /// - Parameters:
  ///   - ending: of the file's name, with its dot, as a hint; empty: none.
  ///   - memory: where pictures are put; nil: memory of FFmpeg's own.
  init(
    _ bytes: any FileBytes, ending: String, wantsAudio: Bool, memory: (any DecoderMemory)? = nil
  ) throws(FileFault) {
    file = try MediaFile(bytes, ending: ending, wantsAudio: wantsAudio)
    contents = file.contents
    self.bytes = bytes
    self.ending = ending
    self.wantsAudio = wantsAudio
    self.memory = memory
  }

  /// Opens the file at `path`.
  static func open(path: String, wantsAudio: Bool) throws(CaptureError) -> OwnFileMedia {
    let bytes = try OpenFile(path: path)
    do throws(FileFault) {
      return try OwnFileMedia(bytes, ending: FileRefusal.ending(of: path), wantsAudio: wantsAudio)
    } catch {
      throw FileRefusal.error(error, path, wantsAudio: wantsAudio)
    }
  }

  var start: Int64? { file.start }

  func prepare(sendsPictures: Bool, sendsSound: Bool, counters: PictureCounters) -> FileDecoders {
    pictures = file.video.flatMap { PictureDecoder($0, counters: counters, memory: memory) }
    sound = file.audio.flatMap { SoundDecoder($0) }
    return FileDecoders(decodesPictures: pictures != nil, decodesSound: sound != nil)
  }

  func read() -> FileStep {
    switch file.read() {
    case .packet(let packet, let stream): .packet(filePacket(packet, stream))
    case .end: .end
    case .failure(let failure): .failure(failure)
    }
  }

  func seek(to time: Int64) -> Bool { file.seek(to: time) }

  /// Opens the file anew where its container cannot go back.
  func rewind() -> Bool {
    if file.rewind() { return true }
    guard let fresh = try? MediaFile(bytes, ending: ending, wantsAudio: wantsAudio),
      (fresh.video == nil) == (file.video == nil), (fresh.audio == nil) == (file.audio == nil)
    else { return false }
    file = fresh
    return true
  }

  func decodePictures(
    _ packet: PacketPayload, at decodeTime: TimeDelta, _ selection: PictureSelection
  ) -> DecodedPictures {
    pictures?.decode(packet, at: decodeTime, selection) ?? DecodedPictures()
  }

  func finishPictures(_ selection: PictureSelection, showsHeld: Bool) -> DecodedPictures {
    pictures?.finish(selection, showsHeld: showsHeld) ?? DecodedPictures()
  }

  func decodeSound(_ packet: PacketPayload) -> [SoundPiece] { sound?.decode(packet) ?? [] }
  func finishSound() -> [SoundPiece] { sound?.finish() ?? [] }

  func reset(_ kind: PlayerState.Kind) {
    switch kind {
    case .video: pictures?.reset()
    case .audio: sound?.reset()
    }
  }

  func recover(from loss: FileLoss) throws(FileLoss) { throw loss }

  // MARK: - Packets

  /// Takes over `packet`.
  private func filePacket(_ packet: UnsafeMutablePointer<AVPacket>, _ stream: MediaStream) -> FilePacket {
    let (pts, dts) = (stream.nanoseconds(packet.pointee.pts), stream.nanoseconds(packet.pointee.dts))
    return FilePacket(
      payload: PacketPayload(owning: packet), isPicture: stream.isPicture,
      isKeyFrame: packet.pointee.flags & AV_PKT_FLAG_KEY != 0, pts: pts, dts: dts,
      duration: stream.duration(packet.pointee.duration), cut: Self.cutEnd(packet, stream),
      nextKeyFrame: stream.isPicture ? (dts ?? pts).flatMap { file.indexedKeyFrame(after: $0) } : nil)
  }

  private static func cutEnd(_ packet: UnsafeMutablePointer<AVPacket>, _ stream: MediaStream) -> Int64 {
    var size = 0
    guard !stream.isPicture, stream.description.audio.sampleRate > 0,
      let data = av_packet_get_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 8
    else { return 0 }
    let samples = (4..<8).reversed().reduce(Int64(0)) { $0 << 8 | Int64(data[$1]) }
    return min(
      PacketTiming.longestDuration, samples * 1_000_000_000 / Int64(stream.description.audio.sampleRate))
  }
}
