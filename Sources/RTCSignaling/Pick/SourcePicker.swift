/// The monitors and windows among which a caster picks on a page, and the cast of the one that is picked. Any thread.
public protocol SourcePicker: Sendable {
  /// The content of the page, as one JSON object: see docs/pick.md.
  func state() async -> String

  /// A picture of a source as it looks now; nil: it is not shown at present, or is gone.
  func thumbnail(of id: String) async -> StillPicture?

  /// Casts a source in the place of the one before.
  /// - Returns: the reason why it is not cast, in a sentence for the caster; nil: it is.
  func pick(_ id: String) async -> String?
}
