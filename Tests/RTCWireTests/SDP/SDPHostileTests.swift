import RTCWire
import SDPKit
import Testing

@Suite struct SDPHostileTests {
  static let head = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n"
  static let video = "m=video 9 UDP/TLS/RTP/SAVPF 96\r\n"

  private func failure(_ text: String) -> SDPError? {
    do {
      _ = try SessionDescription(parsing: text)
      return nil
    } catch { return error }
  }

  @Test func `sizes are bounded`() {
    #expect(
      failure(Self.head + String(repeating: "a=x\n", count: 100_000))?.reason == .tooMany("bytes", limit: 131_072))
    let many = failure(Self.head + String(repeating: "a=x\n", count: 5_000))
    #expect(many == SDPError(line: 2_501, reason: .tooMany("lines", limit: 2_500)))
    let long = failure(Self.head + "a=" + String(repeating: "x", count: 5_000))
    #expect(long == SDPError(line: 5, reason: .tooMany("bytes in the line", limit: 4_096)))
    #expect(failure(Self.head + String(repeating: Self.video, count: 65))?.reason == .tooMany("m-sections", limit: 64))
    #expect(failure(Self.head + String(repeating: Self.video, count: 64)) == nil)
    #expect(failure(String(repeating: "\n", count: 100_000))?.reason == .tooMany("lines", limit: 2_500))
  }

  /// Limits of one line also apply to several lines together.
  @Test func `numbers of everything are bounded`() {
    let sources = { (count: Int) in (0..<count).map { "a=ssrc:\($0) cname:x\n" }.joined() }
    #expect(failure(Self.head + Self.video + sources(65))?.reason == .tooMany("sources", limit: 64))
    #expect(failure(Self.head + Self.video + sources(64) + sources(64)) == nil)
    let sections = String(repeating: Self.video + sources(64), count: 5)
    #expect(failure(Self.head + sections)?.reason == .tooMany("sources", limit: 256))
    let formats = { (count: Int) in "m=video 9 UDP/TLS/RTP/SAVPF" + (0..<count).map { " \($0)" }.joined() + "\r\n" }
    #expect(failure(Self.head + formats(129))?.reason == .tooMany("formats", limit: 128))
    #expect(failure(Self.head + String(repeating: formats(128), count: 9))?.reason == .tooMany("formats", limit: 1_024))
    #expect(failure(Self.head + String(repeating: formats(128), count: 8)) == nil)
    for owner in ["*", "96"] {
      let feedback = (0..<9).map { "a=rtcp-fb:\(owner) x\($0)\n" }.joined()
      #expect(
        failure(Self.head + Self.video + feedback)?.reason == .tooMany("kinds of feedback on a payload type", limit: 8))
    }
    let same = String(repeating: "a=rtcp-fb:* nack\n", count: 1_000)
    #expect(failure(Self.head + Self.video + same) == nil)
    let parameters = (0..<60).map { "a=fmtp:96 parameter\($0)=1\n" }.joined()
    #expect(
      failure(Self.head + Self.video + parameters)?.reason
        == .tooMany("bytes of parameters of a payload type", limit: 512))
    let extensions = (1...65).map { "a=extmap:\($0) urn:x\n" }.joined()
    #expect(failure(Self.head + Self.video + extensions)?.reason == .invalid("extmap"))
  }

  @Test func `candidates and unknown attributes beyond the limit are passed over`() throws {
    let candidates = (0..<1_000).map { "a=candidate:\($0) 1 udp 1 192.0.2.1 \($0 + 1) typ host\n" }.joined()
    let description = try SessionDescription(parsing: Self.head + Self.video + candidates + "a=mid:a\n")
    #expect(description.media[0].transport.candidates.count == 64 && description.media[0].mid == "a")
    #expect(try TrickleFragment(parsing: Self.video + candidates).candidates.count == 64)
    let unknown = (0..<1_000).map { "a=x\($0)\n" }.joined()
    #expect(try SessionDescription(parsing: Self.head + Self.video + unknown).media[0].otherAttributes.count == 64)
  }

  @Test func `feedback of all payload types comes before a type's own, each once`() throws {
    let text = "a=rtpmap:96 VP8/90000\na=rtcp-fb:96 nack\na=rtcp-fb:96 ccm fir\na=rtcp-fb:* nack\na=rtcp-fb:* nack\n"
    let media = try SessionDescription(parsing: Self.head + Self.video + text).media[0]
    #expect(media.payloads.map(\.feedback) == [["nack", "ccm fir"]])
  }

  @Test(arguments: [
    "", "\r\n\r\n", "hello", "v=1\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\n", "v=0\r\n", "v=0\r\ns=-\r\n",
    "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n", "v=0\r\no=- x 1 IN IP4 0.0.0.0\r\ns=-\r\n",
    "v=0\r\no=- 1 99999999999999999999 IN IP4 0.0.0.0\r\ns=-\r\n", "v=0\r\no=- 1 1 IN IP4\r\ns=-\r\n",
    "{\"sdp\": \"v=0\"}", "\u{1F600}=1", "v=0\0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\n",
  ]) func `what is no description is refused`(_ text: String) {
    #expect(failure(text) != nil)
  }

  @Test(arguments: [
    "m=video", "m=video 9", "m=video -1 UDP/TLS/RTP/SAVPF 96", "m=video 65536 UDP/TLS/RTP/SAVPF 96",
    "m=video +9 UDP/TLS/RTP/SAVPF 96", "x=1", "v=0", "a", "=", "a=fingerprint:sha-256 zz", "a=fingerprint:sha-256",
    "a=fingerprint:sha-256 AB:CD", "a=setup:never", "a=ice-ufrag:abc", "a=ice-pwd:short", "a=ice-ufrag:with space",
    "a=group:BUNDLE 0 0", "a=x\u{7}y", "a=x\ry",
  ]) func `broken session lines are named`(_ line: String) {
    #expect(failure(Self.head + line + "\r\n")?.line == 5)
  }

  @Test(arguments: [
    "a=rtpmap:128 VP8/90000", "a=rtpmap:-1 VP8/90000", "a=rtpmap:96", "a=rtpmap:96 VP8", "a=rtpmap:96 VP8/0",
    "a=rtpmap:96 VP8/4294967296", "a=rtpmap:96 opus/48000/0", "a=rtpmap:96 opus/48000/256", "a=rtpmap:96 /90000",
    "a=extmap:0 urn:x", "a=extmap:70000 urn:x", "a=extmap:1", "a=extmap:1/sideways urn:x", "a=extmap:1/ urn:x",
    "a=ssrc:4294967296 cname:x", "a=ssrc:-1 cname:x", "a=ssrc", "a=ssrc-group:FID", "a=ssrc-group:FID 1 x", "a=msid:",
    "a=msid:a b c", "a=mid:", "a=mid:two words", "a=mid", "a=rtcp-fb:200 nack", "a=rtcp-fb:96", "a=sctp-port:65536",
    "a=max-message-size:99999999999999999999999", "b=AS:-5", "b=AS", "t=0 0", "o=- 1 1 IN IP4 0.0.0.0", "q=1", "a=rid",
  ]) func `broken media lines are named`(_ line: String) {
    #expect(failure(Self.head + Self.video + line + "\r\n")?.line == 6)
  }

  @Test func `contradictions are refused`() {
    let media = Self.head + Self.video + "a=mid:a\r\n"
    #expect(failure(media + Self.video + "a=mid:a\r\n")?.reason == .duplicate("mid a"))
    #expect(failure(media + "a=mid:b\r\n") == SDPError(line: 7, reason: .duplicate("mid")))
    let mapped = Self.head + Self.video + "a=rtpmap:96 VP8/90000\r\n"
    #expect(failure(mapped + "a=rtpmap:96 VP9/90000\r\n") == SDPError(line: 7, reason: .duplicate("rtpmap")))
    #expect(failure(mapped + "a=rtpmap:96 VP8/90000\r\n") == nil)
  }

  @Test func `any prefix and any flipped byte is survived`() {
    let bytes = Array(FirefoxOffers.call.utf8)
    for end in stride(from: 0, to: bytes.count, by: 97) { expectUsable(bytes[..<end]) }
    for (step, index) in stride(from: 0, to: bytes.count, by: 61).enumerated() {
      var copy = bytes
      copy[index] = UInt8(truncatingIfNeeded: step &* 37)
      expectUsable(copy[...])
    }
  }

  /// Either a description that reads the same when it is written again, or an error at a line that is there.
  private func expectUsable(_ bytes: ArraySlice<UInt8>) {
    let text = String(decoding: bytes, as: UTF8.self)
    do throws(SDPError) {
      let description = try SessionDescription(parsing: text)
      #expect(try "\(SessionDescription(parsing: "\(description)"))" == "\(description)")
    } catch {
      #expect(
        (0...text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).count).contains(error.line))
    }
  }

  @Test func `unreadable candidates are left out`() throws {
    let text = Self.head + Self.video + "a=candidate:rubbish\r\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n"
    #expect(try SessionDescription(parsing: text).media[0].transport.candidates.count == 1)
  }
}
