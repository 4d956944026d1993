import FuzzBodies
import FuzzPeerBodies
import FuzzSCTPBody
import FuzzSRTPBody
import FuzzVideoBody
import Testing

/// Runs the fuzzers' bodies over the inputs kept in `Fuzz`.
@Suite struct FuzzReplayTests {
  static let bodies: [String: @Sendable (Span<UInt8>) -> Void] = [
    "RTP": fuzzRTP,
    "RTCP": fuzzRTCP,
    "FEC": fuzzFEC,
    "RateControl": fuzzRateControl,
    "VP8": fuzzVP8,
    "Opus": fuzzOpus,
    "VP9": fuzzVP9,
    "H264": fuzzH264,
    "AV1": fuzzAV1,
    "STUN": fuzzSTUN,
    "MDNS": fuzzMDNS,
    "Cursor": fuzzCursor,
    "Exact": fuzzExact,
    "Streams": fuzzStreams,
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
    "SCTP": fuzzSCTP,
    "SCTPPair": fuzzSCTPPair,
    "SRTP": fuzzSRTP,
    "ICE": fuzzICE,
    "Gatherer": fuzzGatherer,
    "Negotiation": fuzzNegotiation,
    "FarPeer": fuzzFarPeer,
  ]

  @Test(arguments: bodies.keys.sorted()) func `no kept input of a fuzzer breaks what it fuzzes`(target: String) throws {
    try KeptInputs(target: target).replay(try #require(Self.bodies[target]))
  }

  @Test func `every fuzzed target is replayed`() throws {
    #expect(try Set(KeptInputs.targets) == Set(Self.bodies.keys))
  }
}
