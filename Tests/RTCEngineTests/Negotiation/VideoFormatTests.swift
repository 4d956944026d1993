import FeatureKit
import RTCDTLS
import RTCEngine
import RTCICE
import RTCMedia
import RTCPrimitives
import RTCWire
import SDPKit
import Testing

@Suite struct VideoFormatTests {
  private func h264(_ profile: String) -> VideoPayloadFormat {
    VideoPayloadFormat(codec: .h264, parameters: "profile-level-id=\(profile);packetization-mode=1")
  }

  /// The peer's answer, and what it may send then.
  private func answer(
    _ offer: String, _ codecs: [VideoPayloadFormat]
  ) throws -> (video: MediaDescription, formats: [VideoPayloadFormat]) {
    var random = SeededGenerator(seed: 1)
    var configuration = PeerConfiguration(
      localAddresses: [SocketAddress(ip: .loopbackV4, port: 5_000)], certificate: try DTLSCertificate(),
      iceCredentials: ICECredentials(using: &random), seed: 1)
    var video = PeerConfiguration.OutgoingVideo()
    video.codecs = codecs
    configuration.sendsVideo = video
    var peer = Peer(configuration)
    var outbox = Outbox()
    let result = try peer.perform(.acceptOffer(offer), now: .zero + .seconds(1), into: &outbox)
    guard case .description(let description) = result else {
      throw NegotiationFailure(kind: .noCommonCodec, sentence: "\(result)")
    }
    return (try SessionDescription(parsing: description.sdp).media[0], peer.statistics.videoFormats)
  }

  @Test func `all codecs that both know are agreed on, with retransmissions, under Chromium's numbers`() throws {
    let (video, formats) = try answer(
      ChromiumOffers.receiver,
      [.vp8, h264("42e01f"), VideoPayloadFormat(codec: .vp9), VideoPayloadFormat(codec: .av1)])
    #expect(video.formats == ["96", "97", "108", "109", "98", "99", "45", "46", "49"])
    #expect(formats.map(\.codec) == [.vp8, .h264, .vp9, .av1])
    #expect(video.payloads[2].parameters["packetization-mode"] == "1")
  }

  @Test func `the level of H.264 may differ, the profile may not`() throws {
    let (video, _) = try answer(ChromiumOffers.receiver, [h264("42e028")])
    #expect(video.formats == ["108", "109", "49"])
    #expect(video.payloads[0].parameters["profile-level-id"] == "42e028")
    #expect(video.payloads[0].parameters["level-asymmetry-allowed"] == "1")
    #expect(try answer(ChromiumOffers.receiver, [h264("4d0028")]).video.formats == ["116", "117", "49"])
    #expect(
      try answer(ChromiumOffers.receiver, [.vp8, h264("42001f")]).video.formats == ["96", "97", "102", "103", "49"])
  }

  @Test(.feature("S4.18")) func `High goes out to viewers that offer High 4:4:4 Predictive, which contains it`() throws
  {
    let (video, formats) = try answer(ChromiumOffers.receiver, [.vp8, h264("640028")])
    #expect(video.formats == ["96", "97", "41", "42", "49"])
    #expect(formats.last?.takes(h264("640028")) == true && formats.last?.takes(h264("4d401f")) == true)
    #expect(formats.last?.takes(h264("42001f")) == false)
  }

  @Test func `a viewer without the codec leaves it out of what may be sent`() throws {
    let (video, formats) = try answer(AiortcOffers.receiver, [VideoPayloadFormat(codec: .av1), .vp8])
    #expect(formats == [.vp8] && video.formats.count == 2)
  }

  @Test func `full chroma is agreed on with who decodes it, and VP8 with everybody`() throws {
    let sharp = VideoPayloadFormat(codec: .vp9, chroma: .full)
    #expect(sharp.parameters == "profile-id=1")
    #expect(try answer(ChromiumOffers.receiver, [sharp, .vp8]).formats.contains { $0.takes(sharp) })
    #expect(try answer(FirefoxOffers.receiver, [sharp, .vp8]).formats == [.vp8])
    let plain = VideoPayloadFormat(codec: .vp9, chroma: .quarter)
    #expect(try answer(FirefoxOffers.receiver, [plain, .vp8]).formats.contains { $0.takes(plain) && !$0.takes(sharp) })
  }

  @Test func `H.264 is offered as Constrained Baseline, and in full chroma as High 4-4-4 Predictive`() throws {
    let (sharp, plain) = (
      VideoPayloadFormat(codec: .h264, chroma: .full), VideoPayloadFormat(codec: .h264, chroma: .quarter)
    )
    let (video, formats) = try answer(ChromiumOffers.receiver, [.vp8, sharp])
    #expect(video.formats == ["96", "97", "41", "42", "49"])
    #expect(formats.last?.takes(sharp) == true && formats.last?.takes(h264("f40028")) == true)
    #expect(try answer(ChromiumOffers.receiver, [plain]).video.formats == ["108", "109", "49"])
    #expect(try !answer(ChromiumOffers.receiver, [plain]).formats.contains { $0.takes(sharp) })
    #expect(plain.takes(h264("42c028")))
  }

  @Test func `of several profiles that are agreed the stream says which it is sent as`() throws {
    let formats = [0, 1].map { VideoPayloadFormat(codec: .vp9, parameters: "profile-id=\($0)") }
    let agreed = SendStreamFormat(
      mid: nil,
      codecs: zip(formats, [UInt8(98), 35]).map { ($0, CodecPayloadTypes(media: PayloadType($1), rtx: nil)) },
      extensionMap: RTPHeaderExtensionMap())
    // The beginnings of key frames of both profiles: the marker, the profile, shown, the sync code, BT.601, the size.
    for (start, number) in [
      ([0x82, 0x49, 0x83, 0x42, 0x20, 0x13, 0xF0, 0x0E, 0xF0], 98),
      (
        [0xA2, 0x49, 0x83, 0x42, 0x20, 0x02, 0x7E, 0x01, 0xDE], 35
      ),
    ] as [([UInt8], UInt8)] {
      let frame = EncodedFrame(
        codec: .vp9, data: start + [0, 0, 0, 0], isKeyFrame: true, size: PixelSize(width: 320, height: 240),
        captureTime: .zero, encodedTime: .zero, quantizer: 0, rotation: .none, contentHint: .detail, number: 0)
      #expect(agreed.payloadTypes(for: frame)?.media == PayloadType(number))
    }
  }

  @Test func `a format takes streams of its profile, or any where the stream does not say`() {
    #expect(h264("42e01f").takes(h264("42c00a")) && !h264("42e01f").takes(h264("42001f")))
    #expect(h264("42e01f").takes(VideoPayloadFormat(codec: .h264)))
    #expect(!h264("42e01f").takes(VideoPayloadFormat(codec: .h264, parameters: "profile-level-id=rubbish")))
    #expect(VideoPayloadFormat(codec: .vp9).takes(VideoPayloadFormat(codec: .vp9, parameters: "profile-id=0")))
    #expect(!VideoPayloadFormat(codec: .vp9).takes(VideoPayloadFormat(codec: .vp9, parameters: "profile-id=2")))
    #expect(!VideoPayloadFormat(codec: .av1).takes(VideoPayloadFormat(codec: .av1, parameters: "profile=1")))
    #expect(!VideoPayloadFormat.vp8.takes(VideoPayloadFormat(codec: .vp9)))
  }
}
