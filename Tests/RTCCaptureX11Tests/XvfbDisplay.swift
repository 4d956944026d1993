import Foundation
import Synchronization

/// An X server of a test's own, ended with the object.
final class XvfbDisplay: @unchecked Sendable {
  // Invariant for `@unchecked Sendable`: the process is only signalled and waited for, which Foundation allows from any
  // thread.
  static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/Xvfb")
  private static let nextNumber = Mutex(40)

  let name: String
  private let process: Process

  /// Returns when the server takes connections; numbers in use are passed over.
  init(screen: String = "640x480x24", options: [String] = []) throws {
    for _ in 0..<10 {
      let number = Self.nextNumber.withLock { number in
        defer { number = number == 49 ? 40 : number + 1 }
        return number
      }
      if let process = try Self.launch(number, screen, options) {
        self.process = process
        name = ":\(number)"
        return
      }
    }
    throw CocoaError(.fileReadUnknown)
  }

  deinit { kill() }

  /// The server is gone when this returns.
  func kill() {
    process.terminate()
    process.waitUntilExit()
  }

  /// Runs a tool on this display and returns its output.
  @discardableResult
  func run(_ command: String...) throws -> String {
    let tool = Process()
    tool.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    tool.arguments = command
    tool.environment = ProcessInfo.processInfo.environment.merging(["DISPLAY": name]) { $1 }
    let output = Pipe()
    tool.standardOutput = output
    tool.standardError = output
    try tool.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    tool.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  private static func launch(_ number: Int, _ screen: String, _ options: [String]) throws -> Process? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/Xvfb")
    process.arguments =
      [":\(number)", "-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp", "-noreset"] + options
    let ready = Pipe()
    process.standardOutput = ready
    process.standardError = FileHandle.nullDevice
    try process.run()
    // The server writes its number when it is ready and closes the pipe when it cannot start.
    if !ready.fileHandleForReading.availableData.isEmpty { return process }
    process.terminate()
    process.waitUntilExit()
    return nil
  }
}
