import RTCIsolation
import RTCMedia
import RTCPrimitives
import Testing

/// B9: a decoder's process that an attacker has taken over says whatever it likes.
@Suite(.serialized) struct HostileDecoderTests {
  @Test(arguments: [
    "unsealed", "without-memory", "without-descriptor", "huge", "slot", "outside", "beyond-the-end", "size", "over-8K",
    "flood", "ready-again", "cut-short", "long", "nonsense",
  ])
  func `B9: a lie ends the process and nothing else`(_ lie: String) throws {
    let stage = DecoderStage("lie-" + lie)
    let decoder = try stage.factory(.vp8)()
    let error = #expect(throws: VideoDecoderError.self) { try decoder.decode([1, 2, 3]) }
    guard case .processLost = error else { Issue.record("\(String(describing: error))"); return }
    #expect(stage.sentences.count == 1)
    // Cut off by the system, a message says no more than that.
    if lie != "long" { #expect(stage.sentences[0].contains("nonsense"), "\(stage.sentences)") }
  }

  @Test func `B9: an answer before the question is no start`() throws {
    let stage = DecoderStage("lie-early")
    #expect(throws: VideoDecoderError.self) { try stage.factory(.vp8)() }
    #expect(stage.sentences.count == 1 && stage.sentences[0].contains("nonsense"))
  }

  @Test func `B9: a command that is cut short is none`() {
    let bytes = DecoderCommand.openingBytes(.vp9)
    for count in 0..<bytes.count { #expect(DecoderCommand(parsing: bytes.span.extracting(first: count)) == nil) }
    guard case .open(.vp9) = DecoderCommand(parsing: bytes.span) else { Issue.record("not read"); return }
    var head: [UInt8] = []
    DecoderCommand.writeHead(&head, isLast: true, released: 1 << 47 | 5)
    #expect(head.count == DecoderCommand.headCount)
    for count in 0..<head.count { #expect(DecoderCommand(parsing: head.span.extracting(first: count)) == nil) }
    guard case .part(10, true, 0x8000_0000_0005) = DecoderCommand(parsing: head.span) else {
      Issue.record("not read"); return
    }
  }
}
