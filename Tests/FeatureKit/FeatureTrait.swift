public import Testing

/// Which features of Tests/features.md a test proves, by their numbers. `scripts/features` reads them where they are declared.
///
/// A trait of single tests, not of suites: what a suite of many tests proves as a whole, none of them is held to.
public struct FeatureTrait: TestTrait {
  /// Their numbers, as they stand in the first column there.
  public let features: [String]
}

extension Trait where Self == FeatureTrait {
  /// The test fails when one of these features is broken.
  public static func feature(_ features: String...) -> Self { Self(features: features) }
}
