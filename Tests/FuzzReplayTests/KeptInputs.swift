import Foundation
import RTCPrimitives

/// The inputs that are kept for one fuzzed target, for unit tests to replay. Compiled into the tests through links.
///
/// With `RTCAST_FUZZ_ROUNDS` in the environment each input is followed by so many changed ones, so that bodies can be
/// tried where there is no libFuzzer, as under a sanitizer. The seed is `RTCAST_FUZZ_SEED`, or 1; an input that crashes is
/// found in `RTCAST_FUZZ_TRACE`, a file to write each one to before it is tried.
struct KeptInputs {
  let target: String

  /// The targets with inputs.
  static var targets: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Seeds").path(percentEncoded: false))
        .sorted()
    }
  }

  /// Runs `body` over all of them.
  func replay(_ body: (Span<UInt8>) -> Void) throws {
    for input in try all() {
      body(input.span)
      try replayChanged(input, body)
    }
  }

  private func all() throws -> [[UInt8]] {
    try ["Seeds", "FailCases"].flatMap { kind in
      let folder = Self.root.appending(path: kind).appending(path: target)
      // Most targets have never failed.
      if kind == "FailCases", !FileManager.default.fileExists(atPath: folder.path(percentEncoded: false)) {
        return [[UInt8]]()
      }
      let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      return try files.sorted { $0.path(percentEncoded: false) < $1.path(percentEncoded: false) }.map {
        [UInt8](try Data(contentsOf: $0))
      }
    }
  }

  /// `Fuzz`, wherever this file was reached from.
  private static var root: URL {
    var folder = URL(filePath: #filePath).deletingLastPathComponent()
    while folder.path(percentEncoded: false) != "/" {
      let root = folder.appending(path: "Fuzz")
      if FileManager.default.fileExists(atPath: root.appending(path: "Seeds").path(percentEncoded: false)) {
        return root
      }
      folder = folder.deletingLastPathComponent()
    }
    fatalError("Fuzz is not above \(#filePath)")
  }

  // MARK: Changed inputs

  private func replayChanged(_ input: [UInt8], _ body: (Span<UInt8>) -> Void) throws {
    let environment = ProcessInfo.processInfo.environment
    var random = SeededGenerator(seed: environment["RTCAST_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1)
    for _ in 0..<(environment["RTCAST_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 0) {
      let changed = Self.changed(input, &random)
      if let trace = environment["RTCAST_FUZZ_TRACE"] { try Data(changed).write(to: URL(filePath: trace)) }
      body(changed.span)
    }
  }

  private static func changed(_ input: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = input
    for _ in 0...Int(random.next() % 8) {
      let place = Int(random.next() % UInt64(bytes.count + 1))
      let end = min(bytes.count, place + 1 + Int(random.next() % 16))
      let value = UInt8(truncatingIfNeeded: random.next())
      switch random.next() % 6 {
      case 0: bytes.insert(value, at: place)
      case 1: bytes.removeSubrange(place..<end)
      case 2: bytes.insert(contentsOf: bytes[place..<end], at: Int(random.next() % UInt64(bytes.count + 1)))
      case 3 where place < bytes.count: bytes[place] ^= 1 << (value & 7)
      case 4 where place < bytes.count: bytes[place] = value
      default: bytes += (0..<Int(value & 31)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      }
    }
    return bytes
  }
}
