/// The options of `rtcast screen --pick` that hold for each source that is picked.
package struct PickOptions: Sendable, Hashable {
  /// As in `--display`.
  package var display: String?
  /// Options of `rtcast screen` and their values.
  package var words: [String]

  package init(display: String?, words: [String]) {
    self.display = display
    self.words = words
  }

  /// The words of the command line that casts a source, without `rtcast`.
  package func words(for source: PickedSource) -> [String] {
    ["screen"] + (display.map { ["--display", $0] } ?? []) + source.words + words
  }

  /// The source that the words cast; nil if they are not those of a source that was picked.
  package func source(in words: [String]) -> PickedSource? {
    var source = PickedSource.screen
    if let place = words.firstIndex(of: "--window"), place + 1 < words.count {
      guard let number = UInt32(words[place + 1].dropFirst(2), radix: 16) else { return nil }
      source = .window(number)
    } else if let place = words.firstIndex(of: "--monitor"), place + 1 < words.count {
      guard let number = Int(words[place + 1]) else { return nil }
      source = .monitor(number)
    }
    return self.words(for: source) == words ? source : nil
  }
}

extension ScreenCommand {
  /// The options for what is picked; nil without `--pick`.
  var pickOptions: PickOptions? {
    guard picks else { return nil }
    var words = ["--fps", String(cast.media.frameRate(otherwise: .screen))]
    if screen.hidesCursor { words.append("--no-cursor") }
    if let audio = cast.media.audio { words += ["--audio", audio.word] }
    return PickOptions(display: screen.display, words: words)
  }
}

extension AudioChoice {
  /// The value of `--audio`.
  package var word: String {
    switch self {
    case .desktop: "desktop"
    case .microphone: "mic"
    case .own: "source"
    case .silence: "none"
    case .device(let name): name
    case .program(let name): "app:\(name)"
    case .sum(let parts): parts.map(\.word).joined(separator: "+")
    }
  }
}
