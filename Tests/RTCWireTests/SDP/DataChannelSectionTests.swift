import RTCWire
import Testing

@Suite struct DataChannelSectionTests {
  private func section(_ lines: [String]) throws -> MediaDescription {
    let head = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0"]
    let text = (head + lines).map { $0 + "\r\n" }.joined()
    return try #require(try SessionDescription(parsing: text).media.first)
  }

  @Test func `a section for data channels says port and size, and parses again`() throws {
    let media = MediaDescription.dataChannels(mid: "2", maximumMessageSize: 262_144)
    var session = SessionDescription(origin: SessionDescription.Origin(sessionID: 1, version: 1))
    session.media = [media]
    let text = session.description
    #expect(text.contains("m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n"))
    #expect(text.contains("a=sctp-port:5000\r\n") && text.contains("a=max-message-size:262144\r\n"))
    let parsed = try #require(try SessionDescription(parsing: text).media.first)
    #expect(parsed.isForDataChannels && parsed.remoteSCTPPort == 5000 && parsed.acceptedMessageSize == 262_144)
  }

  @Test func `sizes left out are 64 KiB, and 0 is any`() throws {
    let m = "m=application 9 UDP/DTLS/SCTP webrtc-datachannel"
    #expect(try section([m]).acceptedMessageSize == 65_536)
    #expect(try section([m, "a=max-message-size:0"]).acceptedMessageSize == nil)
    #expect(try section([m, "a=sctp-port:6000"]).remoteSCTPPort == 6000)
  }

  @Test func `the older form is understood, other applications are left alone`() throws {
    let older = try section(["m=application 9 DTLS/SCTP 5001", "a=sctpmap:5001 webrtc-datachannel 256"])
    #expect(older.isForDataChannels && older.remoteSCTPPort == 5001)
    #expect(try !section(["m=application 9 UDP/BFCP *"]).isForDataChannels)
    #expect(try !section(["m=audio 9 UDP/TLS/RTP/SAVPF 111"]).isForDataChannels)
  }
}
