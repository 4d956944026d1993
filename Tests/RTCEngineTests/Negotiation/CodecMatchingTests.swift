import RTCEngine
import RTCPrimitives
import RTCWire
import Testing

@Suite struct CodecMatchingTests {
  private func format(_ name: String, _ parameters: String = "", rate: UInt32 = 90_000) -> PayloadFormat {
    PayloadFormat(
      payloadType: PayloadType(100), name: name, clockRate: rate, parameters: FormatParameters(parameters))
  }

  private func codec(_ name: String, _ parameters: String = "") -> CodecCapability {
    CodecCapability(name: name, clockRate: 90_000, parameters: FormatParameters(parameters))
  }

  @Test func `VP8 matches by name and clock`() {
    #expect(codec("VP8").matches(format("vp8", "max-fs=12288")))
    #expect(!codec("VP8").matches(format("VP8", rate: 48_000)))
    #expect(!codec("VP8").matches(format("VP9")))
  }

  @Test func `VP9 and AV1 match by profile`() {
    #expect(codec("VP9").matches(format("VP9", "profile-id=0")))
    #expect(!codec("VP9").matches(format("VP9", "profile-id=1")))
    #expect(codec("VP9", "profile-id=1").matches(format("VP9", "profile-id=1")))
    #expect(codec("AV1", "profile=1").matches(format("AV1", "level-idx=5;profile=1;tier=0")))
    #expect(!codec("AV1").matches(format("AV1", "profile=1")))
  }

  @Test func `H.264 matches by profile and packetization mode`() {
    let ours = codec("H264", "packetization-mode=1;profile-level-id=42e01f")
    #expect(ours.matches(format("H264", "profile-level-id=42c034;packetization-mode=1")))
    #expect(!ours.matches(format("H264", "profile-level-id=42e01f")))
    #expect(!ours.matches(format("H264", "packetization-mode=1;profile-level-id=42001f")))
    #expect(!ours.matches(format("H264", "packetization-mode=1;profile-level-id=rubbish")))
    #expect(ours.matches(format("H264", "packetization-mode=1")))
  }

  @Test func `H.264 answers the lower level unless asymmetric`() {
    let ours = codec("H264", "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e034")
    let low = ours.answerParameters(to: format("H264", "packetization-mode=1;profile-level-id=42e01f"))
    #expect(low.text == "packetization-mode=1;profile-level-id=42e01f")
    let own = ours.answerParameters(
      to: format("H264", "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"))
    #expect(own.text == "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e034")
  }

  @Test func `opus needs two channels in its mapping`() {
    let opus = Peers.opus
    var theirs = format("OPUS", "stereo=1", rate: 48_000)
    #expect(!opus.matches(theirs))
    theirs.channels = 2
    #expect(opus.matches(theirs))
  }
}
