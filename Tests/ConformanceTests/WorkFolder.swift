import Glibc
import ProcessKit

/// A folder for the files of one stream; it goes with the object.
final class WorkFolder: Sendable {
  struct Failure: Error { var path: String }

  private let path: String

  init() throws {
    var template = Array("/tmp/rtcast-conformance-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(path: "/tmp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { _ = try? TestProcess.run(["rm", "-rf", path]) }

  /// Runs a line of the shell in the folder, and returns what it printed.
  @discardableResult
  func run(_ line: String) throws -> String { try TestProcess.shell("cd '\(path)' && \(line)").text }

  func write(_ bytes: [UInt8], to name: String) throws {
    guard let file = fopen(path + "/" + name, "wb") else { throw Failure(path: name) }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Failure(path: name) }
  }

  func read(_ name: String) throws -> [UInt8] {
    guard let file = fopen(path + "/" + name, "rb") else { throw Failure(path: name) }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    let count = ftell(file)
    rewind(file)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
      used = fread(buffer.baseAddress, 1, count, file)
    }
  }
}
