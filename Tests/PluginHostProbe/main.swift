// The program that tests run plugins in: what the hidden command of `rtcast` does, and, when told to, lies.

import CLinux
import Glibc
import RTCCapturePlugin
import RTCIsolation
import RTCMedia
import RTCast

let connection: Int32 = 3

func say(_ bytes: [UInt8], with descriptor: Int32 = -1) {
  _ = clinux_send_descriptor(connection, bytes, bytes.count, descriptor, 0)
}

func number(_ value: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }

/// A picture of 64x48 in slot 0 whose first plane starts at `offset`.
func picture(at offset: Int) -> [UInt8] {
  [5, 0, 4] + number(64) + number(48) + number(offset) + number(256) + number(0) + number(0) + [3, 0] + number(-1)
}

/// Whether this process was started only to describe a plugin: the first message ends in "no start". It stays unread.
func isDescribing() -> Bool {
  var message = [UInt8](repeating: 0, count: 65536)
  let count = recv(connection, &message, message.count, Int32(MSG_PEEK))
  return count > 0 && message[Int(count) - 1] == 0
}

func lie(_ how: String) {
  let format = number(64) + number(48) + number(Int(bitPattern: UInt((30.0).bitPattern))) + number(48_000) + number(2)
  say([2] + format)
  let length = 64 * 48 * 4
  switch how {
  case "unsealed":
    // Shared memory that could be cut short later: an ordinary file.
    let file = open("/tmp", O_RDWR | O_CLOEXEC | 0o20200000, 0o600)
    ftruncate(file, off_t(length))
    say([4, 0], with: file)
    say(picture(at: 0))
  case "outside":
    say([4, 0], with: clinux_sealed_memory("probe", length))
    say(picture(at: 1))
    say(picture(at: Int.max - 10))
  default:
    var state: UInt64 = 42
    for _ in 0..<200 {
      state = state &* 6_364_136_223_846_793_005 &+ 1
      say((0..<Int(state >> 33 % 90 + 1)).map { UInt8(truncatingIfNeeded: state >> ($0 % 57)) })
    }
  }
}

// As a program with a launcher, and as what that starts.
if CommandLine.arguments.count > 2, CommandLine.arguments[1] == "launcher" {
  try LauncherTrial.run(in: CommandLine.arguments[2])
  exit(0)
}
if CommandLine.arguments.count > 1, CommandLine.arguments[1] == "child" { exit(LauncherTrial.beChild()) }

// As the process that reads a file.
if CommandLine.arguments.count > 2, CommandLine.arguments[1] == "file" { exit(OddFile(CommandLine.arguments[2]).run()) }

// As a decoder's process.
if CommandLine.arguments.count > 2, CommandLine.arguments[1] == "decoder" {
  let how = CommandLine.arguments[2]
  if how.hasPrefix("lie-") {
    DecoderLies(how).tell()
    exit(0)
  }
  let status = DecoderHost.run(
    { codec, memory throws(VideoDecoderError) in try OddDecoder(CodecRegistry.decoder(of: codec, in: memory), how) },
    { channels throws(AudioDecoderError) in try OddAudioDecoder(CodecRegistry.audioDecoder(channels: channels), how) })
  exit(status ?? 64)
}

if CommandLine.arguments.count > 1, !isDescribing() {
  lie(CommandLine.arguments[1])
  exit(0)
}
guard let status = PluginHost.run() else {
  _ = write(2, "This program is started by tests.\n", 34)
  exit(64)
}
exit(status)
