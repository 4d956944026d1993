// The cost of a picture before it is packets: conversion by rectangle, comparison with the picture before, hashes of its
// cells, and VP8 for a key frame, a typed letter, a scroll. CPU time of the whole process, 1920x1080, synthetic text; one
// line a figure.

import Glibc
import RTCCapture
import RTCCodecVPX
import RTCConvert
import RTCMedia
import RTCPage
import RTCPrimitives

let size = PixelSize(width: 1920, height: 1080)
let memory = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: size.width * size.height)
memory.initialize(repeating: 0)

/// Milliseconds of processor time this process has used.
func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
}

/// Draws `frame` of the scrolling text; the memory is reused, so only one frame may be looked at at a time.
@MainActor func page(_ frame: UInt64, damage: [PixelRect]? = nil) -> VideoFrame {
  var canvas = PixelCanvas(size: size, pixels: memory.mutableSpan)
  SyntheticPicture.draw(.scrollText, frame: frame, seed: 1, milliseconds: 0, into: &canvas)
  let base = UnsafeRawPointer(memory.baseAddress!)
  let buffer = PixelBuffer(format: .bgra, size: size, planes: [(base, size.width * 4)], release: {})!
  return VideoFrame(buffer: buffer, captureTime: .zero, damage: damage, colorSpace: .sRGB)
}

func report(_ what: String, _ milliseconds: Double, _ more: String = "") {
  print(what.padded(to: 34), (String(Int(milliseconds * 1000)) + " µs").padded(to: 12), more)
}

extension String {
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

@MainActor func measureConversion() throws {
  let frame = page(0)
  var converter = FrameConverter()
  let picture = InputPicture(size: size)
  let parts: [(String, [PixelRect]?)] = [
    ("whole", nil), ("640x360", [PixelRect(x: 96, y: 96, width: 640, height: 360)]),
    ("32x32", [PixelRect(x: 96, y: 96, width: 32, height: 32)]),
  ]
  for (name, rects) in parts {
    _ = try converter.convert(frame, rects: rects, into: picture)
    let start = processorTime()
    for _ in 0..<100 { _ = try converter.convert(frame, rects: rects, into: picture) }
    report("convert \(name)", (processorTime() - start) / 100)
  }
}

/// What `ChangeFinder` costs for each picture: all of it is compared with the one before, here an equal one of other memory.
@MainActor func measureComparison() {
  let copy = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: size.width * size.height)
  defer { copy.deallocate() }
  let current = page(0)
  _ = copy.initialize(from: memory)
  let base = UnsafeRawPointer(copy.baseAddress!)
  let before = PixelBuffer(format: .bgra, size: size, planes: [(base, size.width * 4)], release: {})!
  let start = processorTime()
  for _ in 0..<100 { precondition(PictureComparison.changes(from: before, to: current.buffer).isEmpty) }
  report("compare whole", (processorTime() - start) / 100)
}

/// Measures the hashes of all cells of a picture, as for a page that was seen before.
@MainActor func measureHash() {
  let (picture, hash) = (page(0).buffer, PixelHash(key: 1))
  var sum: UInt64 = 0
  let start = processorTime()
  for _ in 0..<100 {
    for y in stride(from: 0, to: size.height, by: 64) {
      for x in stride(from: 0, to: size.width, by: 128) {
        sum ^= hash.hash(PixelRect(x: x, y: y, width: 128, height: min(64, size.height - y)), of: picture)
      }
    }
  }
  precondition(sum == 0, "an even number of equal rounds")
  report("hash whole", (processorTime() - start) / 100)
}

@MainActor func measureEncoding() throws {
  var settings = VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(2_500))
  settings.threads = 1
  let encoder = try VP8Encoder(settings)
  var converter = FrameConverter()
  var now = Timestamp.zero
  @MainActor func encode(_ frame: VideoFrame, keyFrame: Bool = false) throws -> (milliseconds: Double, bytes: Int) {
    let start = processorTime()
    let changed = try converter.convert(frame, rects: frame.damage, into: encoder.picture)
    let job = EncodeJob(changed: changed, keyFrame: keyFrame, captureTime: now, now: now)
    let bytes = try encoder.encode(job)?.data.count ?? 0
    return (processorTime() - start, bytes)
  }
  @MainActor func rest() throws -> (milliseconds: Double, bytes: Int, passes: Int) {
    var total = (0.0, 0, 0)
    while let due = encoder.refinementTime(now: now), total.2 < 500 {
      now = max(now, due)
      let start = processorTime()
      let bytes = try encoder.refine(now: now)?.data.count ?? 0
      total = (total.0 + processorTime() - start, total.1 + bytes, total.2 + 1)
    }
    return total
  }

  _ = try encode(page(0), keyFrame: true)
  _ = try rest()
  now += .seconds(1)
  let key = try encode(page(0), keyFrame: true)
  report("key frame", key.milliseconds, "\(key.bytes) bytes")
  let resting = try rest()
  report("refinement until lossless", resting.milliseconds, "\(resting.bytes) bytes in \(resting.passes) passes")

  var typed = (0.0, 0)
  for letter in 0..<50 {
    now += .milliseconds(200)
    let rect = PixelRect(x: 200 + 12 * letter, y: 400, width: 12, height: 20)
    let result = try encode(page(UInt64(letter % 2), damage: [rect]))
    typed = (typed.0 + result.milliseconds, typed.1 + result.bytes)
  }
  report("typed letter", typed.0 / 50, "\(typed.1 / 50) bytes")

  var scrolled = (0.0, 0)
  for step in 0..<60 {
    now += .microseconds(33_333)
    let frame = page(UInt64(step))
    let result = try encode(frame)
    scrolled = (scrolled.0 + result.milliseconds, scrolled.1 + result.bytes)
  }
  report("scrolled page", scrolled.0 / 60, "\(scrolled.1 / 60) bytes")
}

/// What a viewer's processor spends on the same pictures, copy into pooled memory included.
@MainActor func measureDecoding() throws {
  let encoder = try VP8Encoder(VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(8_000)))
  let decoder = try VP8Decoder()
  var converter = FrameConverter()
  var now = Timestamp.zero
  @MainActor func decode(_ frame: VideoFrame, keyFrame: Bool = false) throws -> Double {
    now += .microseconds(33_333)
    let changed = try converter.convert(frame, rects: frame.damage, into: encoder.picture)
    let job = EncodeJob(changed: changed, keyFrame: keyFrame, captureTime: now, now: now)
    guard let coded = try encoder.encode(job) else { return 0 }
    let start = processorTime()
    _ = try decoder.decode(coded.data)
    return processorTime() - start
  }
  report("decode key frame", try decode(page(0), keyFrame: true))
  let letters = try (0..<50).map { letter in
    try decode(page(UInt64(letter % 2), damage: [PixelRect(x: 200 + 12 * letter, y: 400, width: 12, height: 20)]))
  }
  report("decode typed letter", letters.reduce(0, +) / 50)
  let scrolls = try (0..<60).map { try decode(page(UInt64($0))) }
  report("decode scrolled page", scrolls.reduce(0, +) / 60)
}

try measureConversion()
measureComparison()
measureHash()
try measureEncoding()
try measureDecoding()
