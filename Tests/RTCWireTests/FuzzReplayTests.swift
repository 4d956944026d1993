import Foundation
import Testing

/// Runs the fuzzers' bodies over the inputs kept in `Fuzz`. The bodies are compiled in here through the link `FuzzBodies`.
@Suite struct FuzzReplayTests {
  private static let bodies: [String: @Sendable (Span<UInt8>) -> Void] = [
    "RTP": fuzzRTP,
    "RTCP": fuzzRTCP,
    "VP8": fuzzVP8,
    "Opus": fuzzOpus,
    "VP9": fuzzVP9,
    "H264": fuzzH264,
    "AV1": fuzzAV1,
    "STUN": fuzzSTUN,
    "SDP": fuzzSDP,
    "Y4M": fuzzY4M,
    "Jitter": fuzzJitter,
    "Video": fuzzVideo,
    "Hub": fuzzHub,
    "HubClient": fuzzHubClient,
    "PeerJS": fuzzPeerJS,
    "SkyRTC": fuzzSkyRTC,
    "H264File": fuzzH264File,
    "VP9File": fuzzVP9File,
    "AV1File": fuzzAV1File,
  ]

  @Test(arguments: ["Seeds", "FailCases"])
  func `no kept input of a fuzzer breaks its parser`(folder: String) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz/\(folder)")
    // SCTP's body is replayed by RTCSctpTests, beside what it needs.
    for target in try FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false))
    where target != "SCTP" {
      let body = try #require(Self.bodies[target], "Fuzz/\(folder)/\(target) has no body here")
      let inputs = try FileManager.default.contentsOfDirectory(
        at: root.appending(path: target), includingPropertiesForKeys: nil)
      for input in inputs { body([UInt8](try Data(contentsOf: input)).span) }
    }
  }
}
