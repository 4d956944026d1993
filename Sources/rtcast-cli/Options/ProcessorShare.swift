import ArgumentParser

/// `--cpu-limit`: processor time, in per cent of one core, 1 to 6400.
package struct ProcessorShare {
  /// The share of one core's time.
  package let value: Double

  package init(parsing text: String) throws {
    guard let percent = Double(text.hasSuffix("%") ? String(text.dropLast()) : text), (1...6400).contains(percent)
    else {
      throw ValidationError("--cpu-limit takes 1 to 6400 per cent of one core; 100 is one core, 50 is half of it.")
    }
    value = percent / 100
  }
}
