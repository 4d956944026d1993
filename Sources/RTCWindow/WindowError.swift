/// Why a window could not be opened. Each carries a sentence for the person who asked for it.
public enum WindowError: Error, Hashable, Sendable {
  /// There is no display for a window.
  case noDisplay(String)
  /// The display is there and refused.
  case refused(String)
  /// This process has its window already: SDL serves one thread, and that one is the window's.
  case alreadyOpen

  /// A sentence for the user: the reason and the remedy.
  public var sentence: String {
    switch self {
    case .noDisplay(let sentence), .refused(let sentence): sentence
    case .alreadyOpen: "This program has a call window already; close it before opening another."
    }
  }
}
