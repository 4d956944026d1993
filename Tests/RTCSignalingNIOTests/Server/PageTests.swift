import RTCSignalingNIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct PageTests {
  @Test func `the page is served whole and self contained`() async throws {
    try await Bench.run { bench in
      let page = try await bench.ask("GET", "/?token=x")
      #expect(page.status == 200)
      #expect(page["content-type"] == "text/html; charset=utf-8")
      #expect(page["content-security-policy"]?.contains("default-src 'none'") == true)
      #expect(page["referrer-policy"] == "no-referrer")
      #expect(page.body.utf8.elementsEqual(ViewerPage.html))
      #expect(page.body.hasPrefix("<!doctype html>") && page.body.hasSuffix("</html>\n"))
      #expect(!page.body.contains("src=\"http") && !page.body.contains("@import"))
    }
  }

  @Test func `a head request gets the head alone`() async throws {
    try await Bench.run { bench in
      var wire = try await bench.wire()
      try await wire.send(request("HEAD", "/", headers: ["Connection: close"]))
      let head = await wire.answer(toHead: true)
      #expect(head?.status == 200)
      #expect(head?["content-length"] == String(ViewerPage.html.count))
      #expect(await wire.endsQuietly())
    }
  }

  /// That it is the same when it is decompressed, all browsers of the end-to-end tests say.
  @Test(arguments: [.viewer, .hub(ViewerPage.html)] as [SignalingServerConfiguration.FrontPage])
  func `it is sent compressed, and once`(front: SignalingServerConfiguration.FrontPage) async throws {
    var configuration = SignalingServerConfiguration(gate: .open())
    configuration.frontPage = front
    try await Bench.run(configuration) { bench in
      let plain = try await bench.ask("HEAD", "/", toHead: true)
      let small = try await bench.ask("HEAD", "/", headers: ["Accept-Encoding: gzip, br"], toHead: true)
      #expect(plain["content-encoding"] == nil && plain["content-length"] == String(ViewerPage.html.count))
      #expect(small["content-encoding"] == "gzip" && small["vary"] == "Accept-Encoding")
      let length = try #require(small["content-length"].flatMap { Int($0) })
      #expect(length < ViewerPage.html.count / 3)
      let (tag, other) = (try #require(small["etag"]), try #require(plain["etag"]))
      #expect(tag != other)
      let known = try await bench.ask("GET", "/", headers: ["Accept-Encoding: gzip", "If-None-Match: \(tag)"])
      #expect(known.status == 304 && known.body.isEmpty && known["content-length"] == nil && known["etag"] == tag)
      #expect(known["content-security-policy"] == small["content-security-policy"])
      let unknown = try await bench.ask("GET", "/", headers: ["If-None-Match: \(tag)"])
      #expect(unknown.status == 200 && unknown.body.utf8.elementsEqual(ViewerPage.html), "it is of another form")
    }
  }
}
