// What descriptions of strangers cost the thread that reads them: the largest that are accepted, each made to be costly in
// its own way, and one that once took more than a second. Milliseconds of the processor, each the least of eight: to read it,
// and to read and answer it as a call and as a viewer's offer. An argument names one of them.
import Glibc
import RTCDTLS
import RTCEngine
import RTCPrimitives
import RTCSCTP
import RTCWire

// MARK: - Descriptions

let vp8 = "a=rtpmap:96 VP8/90000\r\n"
let rest: (Int) -> String = { _ in "a=x\r\n" }

func numbers(_ range: some Sequence<Int>) -> String { range.map(String.init).joined(separator: " ") }

func lines(_ range: Range<Int>, _ line: (Int) -> String) -> String { range.map { line($0) + "\r\n" }.joined() }

/// So many videos, each with these formats and further lines.
func offer(_ sections: Int, formats: String = numbers(0..<128), _ body: (Int) -> String) -> String {
  let transport =
    "a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\na=fingerprint:sha-256 "
    + [String](repeating: "AA", count: 32).joined(separator: ":") + "\r\na=setup:actpass\r\na=rtcp-mux\r\n"
  var text = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE \(numbers(0..<sections))\r\n"
  for mid in 0..<sections {
    text += "m=video 9 UDP/TLS/RTP/SAVPF \(formats)\r\na=mid:\(mid)\r\n" + transport + body(mid)
  }
  return text
}

/// With further lines up to the limits.
func filled(_ text: String, _ line: (Int) -> String) -> String {
  var text = text
  var count = text.utf8.count { $0 == 10 }
  for number in 0... {
    let next = line(number)
    count += 1
    if count > PeerLimits.descriptionLines || text.utf8.count + next.utf8.count > PeerLimits.descriptionBytes { break }
    text += next
  }
  return text
}

func maps(_ codec: String, _ parameters: ((Int) -> String)? = nil, count: Int = 128) -> String {
  lines(0..<count) { number in
    "a=rtpmap:\(number) \(codec)/90000" + (parameters.map { "\r\na=fmtp:\(number) " + $0(number) } ?? "")
  }
}

let long = String(repeating: "a=1;", count: 110)
let fingerprint = "a=fingerprint:sha-256 " + [String](repeating: "AB", count: 32).joined(separator: ":")
let descriptions: [(name: String, text: String)] = [
  (
    "3 × 128 formats, 1,024 rtcp-fb", offer(3) { mid in maps("VP8") + lines(0..<1_024) { "a=rtcp-fb:* x\(mid)y\($0)" } }
  ),
  (
    "rtcp-fb of all",
    filled(
      offer(8) { mid in
        maps("VP8") + lines(0..<8) { "a=rtcp-fb:* x\(mid)y\($0)" } + lines(0..<128) { "a=rtcp-fb:\($0) z\(mid)" }
      }, rest)
  ),
  (
    "rtcp-fb of each",
    filled(offer(2) { _ in maps("VP8") + lines(0..<1_024) { "a=rtcp-fb:\($0 % 128) y\($0 / 128)" } }, rest)
  ),
  ("fmtp again", filled(offer(8) { _ in maps("VP8") + lines(0..<170) { "a=fmtp:\($0 % 128) aa=\($0)" } }, rest)),
  ("formats", filled(offer(64, formats: numbers(128..<144)) { _ in "" }, rest)),
  ("formats, one known", filled(offer(64, formats: numbers(90..<106)) { _ in vp8 }, rest)),
  ("formats repeated", filled(offer(40, formats: numbers((0..<1_000).map { $0 % 25 + 80 })) { _ in vp8 }, rest)),
  (
    "sources",
    filled(offer(4) { _ in vp8 + lines(0..<64) { "a=ssrc:\($0) cname:abcdefghij" } }) {
      "a=ssrc:\($0 % 64) msid:abcdefghijabcdefghij abcdefghijabcdefghi\r\n"
    }
  ),
  (
    "source groups",
    filled(
      offer(3) { _ in
        vp8 + lines(0..<60) { "a=ssrc-group:FID " + numbers($0 * 100..<$0 * 100 + 63) }
      }, rest)
  ),
  (
    "H264, long fmtp",
    filled(offer(2) { _ in maps("H264", { _ in long + "profile-level-id=42e01f" }, count: 110) }, rest)
  ),
  ("rtx, long fmtp", filled(offer(2) { _ in maps("rtx", { long + "apt=\($0)" }, count: 110) }, rest)),
  ("H264", filled(offer(8) { _ in maps("H264", { _ in "profile-level-id=4d001f" }) }, rest)),
  ("VP9", filled(offer(8) { _ in maps("VP9", { _ in "profile-id=7" }) }, rest)),
  ("extmap", filled(offer(32, formats: "96") { _ in vp8 + lines(1..<61) { "a=extmap:\($0) u:\($0)" } }, rest)),
  (
    "extmap, known",
    filled(
      offer(32, formats: "96") { _ in
        vp8 + lines(1..<61) { "a=extmap:\($0) urn:ietf:params:rtp-hdrext:sdes:mid" }
      }, rest)
  ),
  (
    "unknown attributes",
    filled(
      offer(38, formats: "96") { _ in
        vp8 + lines(0..<52) { "a=x\($0):abcdefghijklmnopqrs" }
      }, rest)
  ),
  ("long lines", filled(offer(1) { _ in vp8 }) { _ in "a=x:" + String(repeating: "p", count: 4_000) + "\r\n" }),
  ("short lines", filled(offer(1) { _ in vp8 }) { _ in "a=:\r\n" }),
  (
    "candidates",
    filled(offer(1) { _ in vp8 }) {
      "a=candidate:\($0) 1 udp 2113937151 10.0.\($0 / 250 % 250).\($0 % 250) 54400 typ host\r\n"
    }
  ),
  ("fingerprints", filled(offer(64, formats: "96") { _ in vp8 + lines(0..<7) { _ in fingerprint } }, rest)),
  (
    "msid",
    filled(offer(64, formats: "96") { mid in vp8 + lines(0..<15) { "a=msid:stream\($0) track\(mid)x\($0)" } }, rest)
  ),
  (
    "64 videos",
    filled(
      offer(64, formats: "96 97") { _ in
        vp8 + "a=rtcp-fb:96 nack\r\na=rtcp-fb:96 nack pli\r\na=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\n"
          + lines(0..<24) { "a=x\($0)" }
      }, rest)
  ),
]

// MARK: - Measuring

let certificate = try DTLSCertificate()
let credentials = ICECredentials(usernameFragment: "wxyz", password: "abcdefghijklmnopqrstuvwx")
let codecs = [
  VideoPayloadFormat.vp8, VideoPayloadFormat(codec: .vp9, parameters: "profile-id=0"), VideoPayloadFormat(codec: .av1),
  VideoPayloadFormat(codec: .h264, parameters: "profile-level-id=640028"),
  VideoPayloadFormat(codec: .h264, parameters: "profile-level-id=42e01f"),
]

func milliseconds(_ body: () -> Void) -> Double {
  func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
  }
  let start = now()
  body()
  return now() - start
}

func makePeer(isCall: Bool) -> Peer {
  var configuration = PeerConfiguration(
    localAddresses: [SocketAddress(ip: .v4(0x0A00_0001), port: 9)], certificate: certificate,
    iceCredentials: credentials, seed: 7)
  configuration.sendsVideo = PeerConfiguration.OutgoingVideo()
  configuration.sendsVideo?.codecs = codecs
  (configuration.sendableVideo, configuration.receivableVideo) = (codecs, codecs)
  configuration.receivesVideo = isCall
  configuration.dataChannels = DataChannelOptions()
  return Peer(configuration)
}

/// Milliseconds until the offer is answered, or refused.
func answer(_ text: String, isCall: Bool) -> Double {
  var peer = makePeer(isCall: isCall)
  var outbox = Outbox()
  return milliseconds {
    if isCall {
      let offer = Description(kind: .offer, sdp: text)
      _ = try? peer.perform(.setRemoteDescription(offer), now: .zero, into: &outbox)
      _ = try? peer.perform(.setLocalDescription(credentials), now: .zero, into: &outbox)
    } else {
      _ = try? peer.perform(.acceptOffer(text), now: .zero, into: &outbox)
    }
  }
}

func shown(_ values: [Double]) -> String { values.map { "\(($0 * 100).rounded() / 100)" }.joined(separator: ", ") }

let only = CommandLine.arguments.dropFirst().first
for (name, text) in descriptions where only == nil || only == name {
  var least = [Double](repeating: .infinity, count: 3)
  for _ in 0..<8 {
    let times = [
      milliseconds { _ = try? SessionDescription(parsing: text) }, answer(text, isCall: true),
      answer(text, isCall: false),
    ]
    least = zip(least, times).map(min)
  }
  let isRead = (try? SessionDescription(parsing: text)) != nil
  print("\(name): \(text.utf8.count) bytes, \(isRead ? "read" : "refused"), call, viewer: \(shown(least)) ms")
}
