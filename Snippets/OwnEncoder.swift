// Casts a test picture with an encoder of this program's own: H.264 of raw (I_PCM) and skipped macroblocks only. It is
// lossless, needs no tables, and spends far too many bits: an example of the contract, not of compression.
// Usage: OwnEncoder [SECONDS]; without SECONDS it goes on until Ctrl-C.

import Logging
import RTCCapture
import RTCast

/// Used by one thread at a time. It reads no clock: the time comes with each call.
final class RawH264Encoder: VideoEncoder {
  /// Bits of a macroblock: 16x16 of luma and two times 8x8 of chroma, with room for their headers.
  private static let macroblockBits = 3_104.0

  let codec = VideoCodec.h264
  private(set) var settings: VideoEncoderSettings
  /// What the pipeline converts captured pictures into.
  private(set) var picture: InputPicture
  /// Macroblocks that differ from what viewers have, in the order of the picture.
  private var isStale: [Bool]
  private var wantsKeyFrame = true
  private var frameNumber = 0
  private var keyFrameNumber = 0
  /// Bits that may be spent, and when that was last reckoned.
  private var budget = 0.0
  private var reckoned: Timestamp?
  private var rotation = VideoRotation.none

  /// Refuses what it cannot code. A factory that throws makes `Broadcast` warn and send no picture.
  init(_ settings: VideoEncoderSettings) throws(VideoEncoderError) {
    guard settings.size.width % 16 == 0, settings.size.height % 16 == 0,
      settings.size.width * settings.size.height <= 921_600
    else { throw .unsupportedSize(settings.size) }
    self.settings = settings
    picture = InputPicture(size: settings.size)
    isStale = Array(repeating: true, count: settings.size.width / 16 * (settings.size.height / 16))
  }

  private var columns: Int { settings.size.width / 16 }

  /// Any setting may change. A new size begins a new picture, with a key frame.
  func reconfigure(_ new: VideoEncoderSettings) throws(VideoEncoderError) {
    if new.size != settings.size {
      let fresh = try RawH264Encoder(new)
      (picture, isStale, wantsKeyFrame) = (fresh.picture, fresh.isStale, true)
    }
    settings = new
  }

  func setTargetBitrate(_ rate: BitRate) { settings.targetBitrate = rate }

  /// Codes the changes that the bitrate allows. What is left stays in `isStale` and comes by `refine`.
  func encode(_ job: EncodeJob) throws(VideoEncoderError) -> EncodedFrame? {
    if case .frame(let frame) = job.source { copy(frame) }
    let whole = PixelRect(settings.size)
    for rect in (job.changed ?? [whole]).map(whole.intersection) where !rect.isEmpty {
      for row in rect.y / 16...(rect.maxY - 1) / 16 {
        for column in rect.x / 16...(rect.maxX - 1) / 16 { isStale[row * columns + column] = true }
      }
    }
    rotation = job.rotation
    return code(keyFrame: job.keyFrame || wantsKeyFrame, captureTime: job.captureTime, now: job.now)
  }

  /// An encoder that always codes every change at its final quality returns nil here and in `refine`. This one leaves
  /// changes out for lack of bits, so it says when it can pay for the rest.
  func refinementTime(now: Timestamp) -> Timestamp? {
    guard isStale.contains(true) else { return nil }
    reckon(now)
    let missing = Self.macroblockBits * Double(min(16, isStale.count { $0 })) - budget
    return missing <= 0 ? now : now + .seconds(missing / Double(settings.targetBitrate.bitsPerSecond))
  }

  func refine(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    code(keyFrame: false, captureTime: now, now: now)
  }

  /// The budget grows with time to half a second of the rate, and a key frame may overdraw it.
  private func reckon(_ now: Timestamp) {
    let rate = Double(settings.targetBitrate.bitsPerSecond)
    budget = min(rate / 2, budget + rate * (reckoned.map { (now - $0).seconds } ?? 0.5))
    reckoned = now
  }

  private func code(keyFrame: Bool, captureTime: Timestamp, now: Timestamp) -> EncodedFrame? {
    reckon(now)
    let affordable = keyFrame ? isStale.count : Int(max(0, budget / Self.macroblockBits))
    guard keyFrame || (affordable > 0 && isStale.contains(true)) else { return nil }
    if keyFrame {
      isStale = isStale.map { _ in true }
      (frameNumber, keyFrameNumber) = (0, keyFrameNumber + 1)
    }
    var writer = H264Writer()
    if keyFrame { writer.parameterSets(settings.size) }
    writer.beginSlice(isKeyFrame: keyFrame, frameNumber: frameNumber, keyFrameNumber: keyFrameNumber)
    var (coded, skipped) = (0, 0)
    for index in isStale.indices {
      guard isStale[index], coded < affordable else {
        skipped += 1
        continue
      }
      if !keyFrame { writer.unsigned(skipped) }
      writer.rawMacroblock(isKeyFrame: keyFrame, samples(of: index))
      isStale[index] = false
      (coded, skipped) = (coded + 1, 0)
    }
    if skipped > 0 { writer.unsigned(skipped) }
    writer.endUnit()
    (frameNumber, wantsKeyFrame) = ((frameNumber + 1) % 16, false)
    budget -= Double(writer.bytes.count * 8)
    // Annex B, with the parameter sets before each key frame. The pipeline sets `number` and `encodedTime` anew.
    return EncodedFrame(
      codec: .h264, data: writer.bytes, isKeyFrame: keyFrame, size: settings.size, captureTime: captureTime,
      encodedTime: now, quantizer: 0, rotation: rotation, contentHint: settings.contentHint, number: 0)
  }

  /// The 384 samples of a macroblock: Y, U, V.
  private func samples(of index: Int) -> [UInt8] {
    var samples: [UInt8] = []
    for plane in 0..<3 {
      let edge = plane == 0 ? 16 : 8
      let (x, y, stride) = (index % columns * edge, index / columns * edge, picture.stride(ofPlane: plane))
      picture.withPlane(plane) { bytes in
        for row in y..<y + edge { for column in x..<x + edge { samples.append(bytes[row * stride + column]) } }
      }
    }
    return samples
  }

  /// `EncodeJob.Source.frame` comes from sources whose pictures are I420 of this size. It may be read in place; this
  /// encoder copies it, so that refinements find it too.
  private func copy(_ frame: VideoFrame) {
    for plane in 0..<3 {
      let extent = PixelFormat.i420.planeExtent(plane, of: frame.size)
      let (from, to) = (frame.buffer.stride(ofPlane: plane), picture.stride(ofPlane: plane))
      let bytes = frame.buffer.bytes(ofPlane: plane)
      picture.withMutablePlane(plane) { target in
        for row in 0..<extent.rows {
          for column in 0..<extent.rowBytes { target[row * to + column] = bytes[row * from + column] }
        }
      }
    }
  }
}

/// Writes the few parts of H.264 (ITU-T H.264 §7.3) that the encoder above needs.
struct H264Writer {
  private(set) var bytes: [UInt8] = []
  private var current: UInt8 = 0
  private var bitCount = 0
  private var zeros = 0

  mutating func parameterSets(_ size: PixelSize) {
    // Constrained baseline, level 3.1; order count type 2, one reference, whole macroblocks, no cropping and no display information.
    begin(0x67, [0x42, 0xe0, 0x1f])
    for value in [0, 0, 2, 1] { unsigned(value) }
    bits(0, 1)
    for value in [size.width / 16 - 1, size.height / 16 - 1] { unsigned(value) }
    bits(0b1100, 4)
    endUnit()
    // CAVLC, one slice group; its control of the loop filter lets each slice switch that off.
    begin(0x68)
    for value in [0, 0] { unsigned(value) }
    bits(0, 2)
    for value in [0, 0, 0] { unsigned(value) }
    bits(0, 3)
    for _ in 0..<3 { unsigned(0) }
    bits(0b100, 3)
    endUnit()
  }

  /// One slice a picture, whose loop filter is off. Two key frames in a row have different numbers.
  mutating func beginSlice(isKeyFrame: Bool, frameNumber: Int, keyFrameNumber: Int) {
    begin(isKeyFrame ? 0x65 : 0x41)
    for value in [0, isKeyFrame ? 7 : 5, 0] { unsigned(value) }
    bits(frameNumber, 4)
    if isKeyFrame { unsigned(keyFrameNumber % 2) }
    bits(0, isKeyFrame ? 2 : 3)
    unsigned(0)
    unsigned(1)
  }

  mutating func rawMacroblock(isKeyFrame: Bool, _ samples: [UInt8]) {
    unsigned(isKeyFrame ? 25 : 30)
    while bitCount > 0 { bits(0, 1) }
    for sample in samples { bits(Int(sample), 8) }
  }

  /// Exp-Golomb, §9.1.
  mutating func unsigned(_ value: Int) {
    let length = Int.bitWidth - (value + 1).leadingZeroBitCount
    bits(0, length - 1)
    bits(value + 1, length)
  }

  mutating func endUnit() {
    bits(1, 1)
    while bitCount > 0 { bits(0, 1) }
  }

  private mutating func begin(_ header: UInt8, _ rest: [UInt8] = []) {
    bytes += [0, 0, 0, 1, header] + rest
    zeros = 0
  }

  private mutating func bits(_ value: Int, _ count: Int) {
    for shift in stride(from: count - 1, through: 0, by: -1) {
      current = current << 1 | UInt8(value >> shift & 1)
      bitCount += 1
      if bitCount == 8 { flush() }
    }
  }

  /// A byte of emulation prevention keeps start codes out of the payload, §7.4.1.
  private mutating func flush() {
    if zeros == 2, current <= 3 {
      bytes.append(3)
      zeros = 0
    }
    bytes.append(current)
    zeros = current == 0 ? zeros + 1 : 0
    (current, bitCount) = (0, 0)
  }
}

var codecs = CodecRegistry.standard
codecs.register(.h264, library: "raw macroblocks") { settings throws(VideoEncoderError) in try RawH264Encoder(settings)
}
var options = Broadcast.Options()
// One codec is offered in the answer, H.264 as constrained baseline. A viewer that cannot decode it gets no picture.
options.codec = .h264
options.bitrates.start = .megabitsPerSecond(6)
options.captureSize = PixelSize(width: 320, height: 240)
options.frameRate = 10
let broadcast = Broadcast(
  SyntheticCapturer(pattern: .clock), options: options, peers: try PeerLoop(), codecs: codecs)
let server = try await SignalingServer.start(
  SignalingServerConfiguration(), sessions: broadcast.whep, logger: Logger(label: "cast"))
_ = try await broadcast.start()
print("Open \(server.link)")
if let seconds = CommandLine.arguments.dropFirst().first.flatMap(Double.init) {
  try await Task.sleep(for: .seconds(seconds))
  await broadcast.stop()
} else {
  for await event in broadcast.events { print(event) }
}
