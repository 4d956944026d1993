import Foundation
import Testing

/// Runs the fuzzer's body over the inputs kept in `Fuzz`. The body is compiled in here through the link `FuzzSctpBody`.
@Suite struct FuzzReplayTests {
  @Test(arguments: ["Seeds", "FailCases"])
  func `no kept input of the fuzzer breaks a transport`(folder: String) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz/\(folder)/SCTP")
    for input in try FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: nil) {
      fuzzSCTP([UInt8](try Data(contentsOf: input)).span)
    }
  }
}
