import ArgumentParser

/// `--fps`: frames per second, 0.1 to 240.
package struct FrameRate: CustomStringConvertible {
  package let value: Double

  static let screen = FrameRate(5)
  static let motion = FrameRate(30)

  private init(_ value: Double) { self.value = value }

  package init(parsing text: String, option: String = "--fps") throws {
    guard let value = Double(text), (0.1...240).contains(value) else {
      throw ValidationError("\(option) takes 0.1 to 240 frames per second; 5 suits text, 30 suits motion.")
    }
    self.value = value
  }

  package var description: String { value == value.rounded() ? String(Int(value)) : String(value) }
}
