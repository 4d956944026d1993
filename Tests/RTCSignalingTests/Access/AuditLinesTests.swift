import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct AuditLinesTests {
  private func refused(_ number: Int) -> AuditEvent {
    AuditEvent(.wrong, right: .watch, shown: "guess\(number)", from: "192.0.2.1")
  }

  private func count(_ event: String, in text: String) -> Int { text.components(of: "\"event\":\"\(event)\"") }

  @Test func `each decision is one line, without a secret`() {
    var lines = AuditLines(now: .zero)
    let secret = AccessToken("sesame-open-sesame")!
    let link = SignedLink(.watch, issued: 0)
    let shown = link.signed(with: secret)
    #expect(
      lines.lines(
        for: AuditEvent(.admitted, right: .watch, by: .link(link.id), from: "192.0.2.1", name: "talk"), at: "T",
        now: .zero)
        == #"{"time":"T","event":"admitted","right":"watch","by":"link","link":"\#(link.id)","address":"192.0.2.1","name":"talk"}"#
        + "\n")
    let refused = lines.lines(
      for: AuditEvent(.revoked, right: .watch, shown: shown, from: "192.0.2.1"), at: "T", now: .zero)
    #expect(refused.contains(#""reason":"link-revoked""#) && refused.contains(link.id) && !refused.contains(shown))
    let wrong = lines.lines(
      for: AuditEvent(.wrong, right: .call, shown: "sesame-close", from: "192.0.2.1", name: "a\u{1B}\nb"), at: "T",
      now: .zero)
    #expect(wrong.contains("bad-token") && !wrong.contains("sesame-close") && !wrong.contains("u001b"))
    #expect(wrong.filter { $0 == "\n" }.count == 1)
  }

  @Test func `refusals have a rate, and those left out are counted`() {
    var lines = AuditLines(now: .zero)
    var text = ""
    for number in 0..<10_000 {
      text += lines.lines(for: refused(number), at: "T", now: .zero + .milliseconds(Int64(number)))
    }
    // Fifty at once, and one a second for ten seconds.
    #expect((50...60).contains(count("refused", in: text)))
    // Whoever is admitted meanwhile is written, and what only the owner does is always.
    let admitted = AuditEvent(.admitted, right: .watch, by: .secret, from: "192.0.2.2")
    let line = lines.lines(for: admitted, at: "T", now: .zero + .seconds(10))
    #expect(line.hasPrefix(#"{"time":"T","event":"omitted","refused":"#) && count("admitted", in: line) == 1)
    for _ in 0..<3_000 { text += lines.lines(for: admitted, at: "T", now: .zero + .seconds(10)) }
    #expect(count("admitted", in: text) < 1_001)
    for _ in 0..<100 {
      #expect(
        lines.lines(for: AuditEvent(.revoked, by: .link("x")), at: "T", now: .zero + .seconds(10)).contains("revoked"))
    }
    #expect(lines.omitted(at: "T").isEmpty, "told with the revocation")
  }
}

extension String {
  fileprivate func components(of part: String) -> Int {
    split(separator: part, omittingEmptySubsequences: false).count - 1
  }
}
