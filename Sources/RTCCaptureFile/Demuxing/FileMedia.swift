internal import RTCCodecFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// An open file, demuxed and decoded: in this process (`OwnFileMedia`) or in one without rights (`IsolatedFileMedia`). Used by
/// one thread at a time.
protocol FileMedia: AnyObject {
  var contents: FileContents { get }

  /// The begin of the file's own timestamps, in nanoseconds; nil while it is not known.
  var start: Int64? { get }

  /// Makes the decoders.
  /// - Parameters:
  ///   - sendsPictures: the coded bytes of pictures are wanted, beside what is decoded of them; of sound with `sendsSound`.
  ///   - counters: count decoded pictures.
  func prepare(sendsPictures: Bool, sendsSound: Bool, counters: PictureCounters) throws(FileLoss) -> FileDecoders

  /// The next packet of a stream that is played.
  func read() throws(FileLoss) -> FileStep

  /// Goes to the key frame at or before `time` (the file's own, in nanoseconds); false when the container cannot.
  func seek(to time: Int64) throws(FileLoss) -> Bool

  /// Goes to the first packet; false when that cannot be done.
  func rewind() throws(FileLoss) -> Bool

  /// Decodes a packet of pictures.
  func decodePictures(
    _ packet: PacketPayload, at decodeTime: TimeDelta, _ selection: PictureSelection
  ) throws(FileLoss) -> DecodedPictures

  /// Gives out the pictures that the decoder holds, and has it begin anew.
  /// - Parameter showsHeld: also the newest picture before `selection.floor`.
  func finishPictures(_ selection: PictureSelection, showsHeld: Bool) throws(FileLoss) -> DecodedPictures

  /// Decodes a packet of sound.
  func decodeSound(_ packet: PacketPayload) throws(FileLoss) -> [SoundPiece]

  /// Gives out the sound that the decoder holds, and has it begin anew.
  func finishSound() throws(FileLoss) -> [SoundPiece]

  /// Has a decoder forget everything, before a jump.
  func reset(_ kind: PlayerState.Kind) throws(FileLoss)

  /// Opens the file anew after `loss`: nothing was read of it then.
  /// - Throws: the final loss, where that is not possible or was done too often.
  func recover(from loss: FileLoss) throws(FileLoss)
}

/// The process that reads a file is no more. A file that is read in this process is never lost so.
struct FileLoss: Error, Hashable, Sendable {
  /// A sentence for a person.
  var sentence: String
}

/// Which decoders there are for a file.
package struct FileDecoders: Hashable, Sendable {
  package var decodesPictures: Bool
  package var decodesSound: Bool
}

/// The reason why a file could not be read further.
package enum FileReadFailure: UInt8, Hashable, Sendable {
  case unreadable = 0
  case shortOfMemory = 1

  /// The failure in a sentence.
  var sentence: String {
    switch self {
    case .unreadable: "Input/output error"
    case .shortOfMemory: "Memory is short."
    }
  }
}

/// The next item of a file.
enum FileStep {
  case packet(FilePacket)
  case end
  case failure(FileReadFailure)
}

/// One packet as the container holds it. Times are the file's own, in nanoseconds, and within `PacketTiming.latestTime`.
struct FilePacket {
  let payload: PacketPayload
  let isPicture: Bool
  let isKeyFrame: Bool
  /// Nil when the container does not say.
  let pts: Int64?
  let dts: Int64?
  /// 0 when the container does not say.
  let duration: Int64
  /// The length of the padding at the packet's end.
  let cut: Int64
  /// The time of the next key frame after the packet in the container's index.
  let nextKeyFrame: Int64?
}
