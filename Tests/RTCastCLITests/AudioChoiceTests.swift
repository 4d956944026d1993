import ArgumentParser
import Testing
import rtcast_cli

@Suite struct AudioChoiceTests {
  @Test(
    arguments: [
      ("desktop", .desktop), ("mic", .microphone), ("Microphone", .microphone), ("none", .silence), ("source", .own),
      ("Jabra Evolve", .device("Jabra Evolve")), ("app:Firefox", .program("Firefox")),
      ("desktop+mic", .sum([.desktop, .microphone])), ("app:mpv+Mic", .sum([.program("mpv"), .microphone])),
      ("USB+Line", .device("USB+Line")), ("mic+", .device("mic+")),
    ] as [(String, AudioChoice)]) func `what sound to cast is read`(text: String, choice: AudioChoice) throws
  {
    #expect(try AudioChoice(parsing: text) == choice)
  }

  @Test(arguments: ["", " ", "\t", "app:", "App: "])
  func `a device without a name is refused with what there is to choose`(text: String) {
    let error = #expect(throws: ValidationError.self) { try AudioChoice(parsing: text) }
    #expect(error?.message.contains("source, desktop, mic, app:NAME, none") == true)
  }
}
