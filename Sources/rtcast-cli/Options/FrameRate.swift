import ArgumentParser

/// `--fps`: frames a second, 0.1 to 240.
struct FrameRate: ExpressibleByArgument {
  var value: Double

  static let range = 0.1...240.0

  init(value: Double) { self.value = value }

  init?(argument: String) {
    guard let value = Double(argument), value.isFinite else { return nil }
    self.value = value
  }

  var defaultValueDescription: String { value == value.rounded() ? String(Int(value)) : String(value) }

  func validate() throws {
    guard Self.range.contains(value) else {
      throw ValidationError("--fps must be between 0.1 and 240 frames a second; 5 suits text, 30 suits motion.")
    }
  }
}
