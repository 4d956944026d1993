// What decoding in a process of its own costs beside decoding in this one: time from the coded picture to the picture, processor
// time of both processes, memory of the child. 1920x1080, text in which letters are typed and that scrolls, 30 pictures a
// second; both ways are given the same pictures, in turns of one second.
//
//     DecoderBenchmark [SECONDS [CODEC …]]

import Glibc
import RTCCodecAOM
import RTCCodecVPX
import RTCCodecX264
import RTCIsolation
import RTCMedia
import RTCPrimitives
import RTCast

if CommandLine.arguments.dropFirst().first == "host" {
  exit(DecoderHost.run(CodecRegistry.decoder, CodecRegistry.audioDecoder) ?? 64)
}

let size = PixelSize(width: 1920, height: 1080)
let seconds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 20
let named = CommandLine.arguments.dropFirst(2).compactMap { VideoCodec(rawValue: $0) }
let codecs = named.isEmpty ? [VideoCodec.vp8, .vp9, .h264, .av1] : named

func encoder(_ codec: VideoCodec) throws -> any VideoEncoder {
  let settings = VideoEncoderSettings(size: size, contentHint: .motion, targetBitrate: .megabitsPerSecond(4))
  switch codec {
  case .vp8: return try VP8Encoder(settings)
  case .vp9: return try VP9Encoder(settings)
  case .av1: return try AV1Encoder(settings)
  case .h264: return try H264Encoder(settings)
  }
}

/// A key frame and what follows it: waves that pass, which every block of the picture has a part in.
func clip(_ codec: VideoCodec) throws -> [[UInt8]] {
  let encoder = try encoder(codec)
  var clip: [[UInt8]] = []
  var now = Timestamp.zero + .seconds(Int64(1))
  for number in 0..<60 {
    for plane in 0..<3 {
      let (extent, stride) = (
        encoder.picture.format.planeExtent(plane, of: size), encoder.picture.stride(ofPlane: plane)
      )
      encoder.picture.withMutablePlane(plane) { bytes in
        for y in 0..<extent.rows {
          for x in 0..<extent.rowBytes {
            bytes[y * stride + x] =
              plane > 0 ? 128 : UInt8(60 + abs((x + number * 4) % 160 - 80) + abs((y + number * 2) % 120 - 60))
          }
        }
      }
    }
    let job = EncodeJob(changed: nil, keyFrame: number == 0, captureTime: now, now: now)
    if let frame = try encoder.encode(job) { clip.append(frame.data) }
    now += .milliseconds(33)
  }
  return clip
}

/// Seconds of processor time of this process, or of those of its children that were waited for.
func processorTime(_ who: __rusage_who_t) -> Double {
  var usage = rusage()
  getrusage(who, &usage)
  return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
    / 1e6
}

func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func text(_ path: String) -> String {
  guard let file = fopen(path, "r") else { return "" }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 1 << 16)
  return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
}

/// Kibibytes of this process's child that no other process has, shared pictures left out.
func childMemory() -> (own: Int, shared: Int) {
  var threads: [String] = []
  let folder = opendir("/proc/self/task")!
  while let entry = readdir(folder) {
    threads.append(
      withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      })
  }
  closedir(folder)
  let children = threads.flatMap { text("/proc/self/task/\($0)/children").split(separator: " ") }
  guard let child = children.first else { return (0, 0) }
  let lines = text("/proc/\(child)/smaps_rollup").split(separator: "\n")
  func field(_ name: String) -> Int {
    lines.first { $0.hasPrefix(name) }.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
  }
  let pictures = field("Pss_Shmem:")
  return (field("Pss:") - pictures, pictures)
}

struct Round {
  var latencies: [Double] = []
  var processor = 0.0
  var time = 0.0

  /// Decodes for about a second, 30 pictures of it.
  mutating func run(_ decoder: any VideoDecoder, _ clip: [[UInt8]], from start: inout Int) throws {
    let (begin, used) = (now(), processorTime(RUSAGE_SELF))
    for number in 0..<30 {
      let due = begin + Double(number) / 30
      let rest = due - now()
      if rest > 0 { usleep(UInt32(rest * 1e6)) }
      let before = now()
      guard let picture = try decoder.decode(clip[start % clip.count]) else { continue }
      latencies.append(now() - before)
      withExtendedLifetime(picture) {}
      start += 1
    }
    processor += processorTime(RUSAGE_SELF) - used
    time += max(1, now() - begin)
  }

  func percentile(_ share: Double) -> Double {
    let sorted = latencies.sorted()
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] * 1000
  }
}

func fixed(_ value: Double) -> String { String(Double(Int(value * 100)) / 100) }

for codec in codecs {
  let clip = try clip(codec)
  let decoders = IsolatedDecoders(program: ChildProgram(executable: "/proc/self/exe", arguments: ["host"])) {
    print($0)
  }
  let began = now()
  var isolated: (any VideoDecoder)? = try decoders.factories(of: [codec])[codec]!()
  let start = now() - began
  let own = try CodecRegistry.decoder(of: codec, in: OwnDecoderMemory())
  var (inside, outside) = (Round(), Round())
  var (insideAt, outsideAt) = (0, 0)
  for _ in 0..<seconds {
    try inside.run(own, clip, from: &insideAt)
    try outside.run(isolated!, clip, from: &outsideAt)
  }
  let memory = childMemory()
  let before = processorTime(RUSAGE_CHILDREN)
  isolated = nil
  let child = processorTime(RUSAGE_CHILDREN) - before
  print(
    "\(codec.rawValue): in this process p50 \(fixed(inside.percentile(0.5))) ms, p95 \(fixed(inside.percentile(0.95))) ms, "
      + "\(fixed(inside.processor / inside.time * 100)) % of a core; in a child p50 \(fixed(outside.percentile(0.5))) ms, p95 "
      + "\(fixed(outside.percentile(0.95))) ms, \(fixed((outside.processor + child) / outside.time * 100)) % of a core "
      + "(child \(fixed(child / outside.time * 100)) %), own memory \(memory.own / 1024) MiB, pictures \(memory.shared / 1024) MiB; "
      + "started in \(Int(start * 1000)) ms")
}
