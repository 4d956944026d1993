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
}
