// The cost of decoding in a process of its own, beside decoding in this one: time from the coded picture to the picture, processor
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

/// Seconds of processor time of this process.
func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
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

/// The process that decodes: this one's only child.
func child() -> Int32? {
  var threads: [String] = []
  let folder = opendir("/proc/self/task")!
  while let entry = readdir(folder) {
    threads.append(
      withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      })
  }
  closedir(folder)
  return threads.flatMap { text("/proc/self/task/\($0)/children").split(separator: " ") }.first.flatMap { Int32($0) }
}

/// Seconds of processor time of a child so far, to a hundredth.
func processorTime(of child: Int32) -> Double {
  let fields = text("/proc/\(child)/stat").split(separator: ")").last?.split(separator: " ") ?? []
  return fields[11...12].reduce(0) { $0 + (Double($1) ?? 0) } / Double(sysconf(Int32(_SC_CLK_TCK)))
}

/// Kibibytes of a child that no other process has, by its share of what several have; shared pictures apart.
func memory(of child: Int32) -> (own: Int, pictures: Int) {
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
    let (begin, used) = (now(), processorTime())
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
    processor += processorTime() - used
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
  let factory = decoders.factories(of: [codec])[codec]!
  let began = now()
  let isolated = try factory()
  let start = now() - began
  let child = child()!
  let atStart = memory(of: child).own
  let own = try CodecRegistry.decoder(of: codec, in: OwnDecoderMemory())
  var (inside, outside) = (Round(), Round())
  var (insideAt, outsideAt) = (0, 0)
  let before = processorTime(of: child)
  for _ in 0..<seconds {
    try inside.run(own, clip, from: &insideAt)
    try outside.run(isolated, clip, from: &outsideAt)
  }
  let childTime = processorTime(of: child) - before
  let size = memory(of: child)
  // A death in between: from the picture that is lost to the key frame that is decoded, which is there at once here.
  kill(child, SIGKILL)
  let death = now()
  while (try? isolated.decode(clip[0])) != nil {}
  _ = try factory().decode(clip[0])
  let recovery = now() - death
  let more = (outside.processor + childTime) / outside.time - inside.processor / inside.time
  print(
    """
    \(codec.rawValue)
      in this process   p50 \(fixed(inside.percentile(0.5))) ms, p95 \(fixed(inside.percentile(0.95))) ms, \
    \(fixed(inside.processor / inside.time * 100)) % of a core
      in a child        p50 \(fixed(outside.percentile(0.5))) ms, p95 \(fixed(outside.percentile(0.95))) ms, \
    \(fixed((outside.processor + childTime) / outside.time * 100)) % of a core (\(fixed(more * 100)) more)
      memory            \(atStart / 1024) MiB at the start, then \(size.own / 1024) MiB and \(size.pictures / 1024) MiB of pictures
      start, recovery   \(Int(start * 1000)) ms, \(Int(recovery * 1000)) ms
    """)
}
