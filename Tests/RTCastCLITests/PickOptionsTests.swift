import Testing
import rtcast_cli

/// The names of sources on the page on which a caster picks, and the command lines that cast them.
@Suite struct PickOptionsTests {
  private let options = PickOptions(display: ":7", words: ["--fps", "5.0", "--audio", "desktop"])

  @Test(arguments: [PickedSource.screen, .monitor(0), .monitor(3), .window(0x1a0_0007), .window(.max)])
  func `a source is found again by its identifier and by its command line`(source: PickedSource) {
    #expect(PickedSource(id: source.id) == source)
    let words = options.words(for: source)
    #expect(
      words.starts(with: ["screen", "--display", ":7"]) && words.suffix(4) == ["--fps", "5.0", "--audio", "desktop"])
    #expect(options.source(in: words) == source)
  }

  @Test(arguments: [
    "", "window", "window-", "window-zz", "window-0x1", "window-1A", "window-01", "window-1-2", "window-100000000",
    "monitor--1", "monitor-x", "monitor-99999999999999999999", "Screen", "screen-1", "--window",
  ]) func `other texts name nothing`(text: String) { #expect(PickedSource(id: text) == nil) }

  @Test(arguments: [
    ["test"], ["screen", "--window", "Terminal"], ["screen", "--display", ":8", "--window", "0x1"],
    ["screen", "--display", ":7", "--window"], ["file", "talk.mp4"],
  ]) func `a source that was set otherwise was not picked`(words: [String]) {
    #expect(options.source(in: words) == nil)
  }

  @Test(arguments: [
    AudioChoice.desktop, .microphone, .own, .silence, .device("usb"), .program("mpv"), .sum([.desktop, .microphone]),
  ])
  func `the choice of sound is passed on as it was given`(choice: AudioChoice) throws {
    #expect(try AudioChoice(parsing: choice.word) == choice)
  }
}
