import RTCSignaling
import Testing

@Suite struct HTTPReplyTests {
  @Test func `an opened session is named by its location`() {
    let reply = HTTPReply.opened(WHEPAnswer(id: "abc", answer: "v=0\r\n", etag: "1"), at: .whep, path: "/whep")
    #expect(reply.status == 201)
    #expect(reply.first("location") == "whep/session/abc")
    #expect(reply.first("etag") == "\"1\"")
    #expect(reply.first("content-type") == "application/sdp")
    #expect(reply.first("accept-patch") == "application/trickle-ice-sdpfrag")
    #expect(reply.body == Array("v=0\r\n".utf8))
  }

  @Test(arguments: [
    ("/whep", SignalingEndpoint.whep, "/whep/session/x"), ("/whep/", .whep, "/whep/session/x"),
    ("/whep/talk", .whep, "/whep/session/x"), ("/whip/a%20b", .whip, "/whip/session/x"),
    ("/whep/session", .whep, "/whep/session/x"),
  ]) func `a location leads from each request to the session`(
    path: String, endpoint: SignalingEndpoint, session: String
  ) throws {
    let reply = HTTPReply.opened(WHEPAnswer(id: "x", answer: "", etag: "1"), at: endpoint, path: path)
    let location = reply.first("location")
    for prefix in ["", "/cast", "/a/b"] {
      let request = try #require(WebAddress("https://lab.example\(prefix)\(path)"))
      #expect(request.resolving(try #require(location))?.target == prefix + session)
    }
  }

  @Test func `a patch answers with a fragment only after a restart`() {
    #expect(HTTPReply.patched(.noContent) == HTTPReply(status: 204))
    let restarted = HTTPReply.patched(.restarted(fragment: "a=ice-ufrag:x", etag: "2"))
    #expect(restarted.status == 200)
    #expect(restarted.first("etag") == "\"2\"")
    #expect(restarted.first("content-type") == "application/trickle-ice-sdpfrag")
  }

  @Test(arguments: [
    (WHEPRefusal.malformedOffer("x"), 400), (.malformedFragment("x"), 400), (.noSuchStream("x"), 404),
    (.noSuchSession, 404), (.trickleUnsupported, 405), (.noCommonCodec(offered: "VP8"), 406), (.etagMismatch, 412),
    (.unusableOffer("x"), 422), (.etagRequired, 428), (.failed("x"), 500), (.tooManyViewers(limit: 3), 503),
    (.notAdmitted, 403), (.admissionPending, 503), (.notReady(retryAfter: 2), 503),
  ]) func `each refusal has its status and a sentence`(refusal: WHEPRefusal, status: Int) {
    let reply = HTTPReply.refusal(refusal)
    #expect(reply.status == status)
    #expect(String(decoding: reply.body, as: UTF8.self) == refusal.sentence + "\n")
    #expect((reply.first("retry-after") != nil) == (status == 503))
  }

  @Test(arguments: [WHEPRefusal.unusableOffer("no picture."), .malformedOffer("no SDP"), .failed("out of memory..")])
  func `a refusal ends with one full stop`(refusal: WHEPRefusal) {
    #expect(refusal.sentence.hasSuffix(".") && !refusal.sentence.hasSuffix(".."))
  }

  @Test func `the status is JSON whatever the names`() {
    let status = CastStatus(isLive: true, viewers: 2, streams: ["a\"b\\", "c\u{1}"])
    #expect(status.json(detail: true) == #"{"status":"live","viewers":2,"streams":["a\"b\\","c\u0001"]}"#)
    #expect(CastStatus(isLive: false, viewers: 2).json(detail: false) == #"{"status":"ended"}"#)
  }

  @Test func `the number of a snapshot is its ETag, of eight digits, where the picture is exact`() {
    #expect(HTTPReply.snapshot(CastSnapshot(webP: [1, 2], number: 0xABC)).first("ETag") == "\"00000abc\"")
    #expect(HTTPReply.snapshot(CastSnapshot(webP: [1, 2], number: .max)).first("ETag") == "\"ffffffff\"")
    let coarse = HTTPReply.snapshot(CastSnapshot(webP: [1, 2]))
    #expect(coarse.first("ETag") == nil && coarse.status == 200 && coarse.body == [1, 2])
    #expect(HTTPReply.snapshot(nil).status == 404)
  }
}
