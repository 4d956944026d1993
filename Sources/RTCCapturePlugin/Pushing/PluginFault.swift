/// A plugin's violation of the rules of `rtcast_plugin.h`. Each is counted; the first of each kind is reported.
public enum PluginFault: UInt8, Error, Hashable, Sendable, CaseIterable {
  // Refused.
  case structSize = 1
  case unknownPixelFormat
  case impossibleSize
  case missingPlane
  case shortStride
  case unknownRotation
  case unknownColorSpace
  case unknownBuffer
  case notTheBorrowedPlanes
  case unknownSampleFormat
  case impossibleSound
  case missingSamples
  case undeclaredPictures
  case undeclaredSound
  // Corrected.
  case timeBackwards
  case timeFarOff
  case damageOutside
  case samplesNotANumber
  // Ignored.
  case beforeStart
  case afterStop

  /// A sentence for the user: the fault, its consequence, and who can fix it.
  public func sentence(plugin name: String) -> String {
    "The plugin \(name) \(happening) Its author can mend this; rtcast_plugin.h has the rules."
  }

  private var happening: String {
    switch self {
    case .structSize: "gave a struct of the wrong size; it was refused."
    case .unknownPixelFormat: "pushed a picture in an unknown format; it was refused."
    case .impossibleSize: "pushed a picture of an impossible size (2x2 to 16384x16384 pixels go); it was refused."
    case .missingPlane: "pushed a picture without one of its planes; it was refused."
    case .shortStride: "pushed a picture with a stride smaller than a row, or absurdly large; it was refused."
    case .unknownRotation: "pushed a picture turned by other than 0, 90, 180 or 270 degrees; it was refused."
    case .unknownColorSpace: "pushed a picture in a colour space that does not go with its format; it was refused."
    case .unknownBuffer: "pushed a borrowed buffer that it does not hold; it was refused."
    case .notTheBorrowedPlanes: "pushed a borrowed buffer with planes that lie outside it; it was refused."
    case .unknownSampleFormat: "pushed sound in an unknown format; it was refused."
    case .impossibleSound:
      "pushed sound of an impossible rate, channel count or length (8000 to 384000 Hz, 1 to 8, up to 1 s go); it was "
        + "refused."
    case .missingSamples: "pushed sound without samples; it was refused."
    case .undeclaredPictures: "pushed a picture though it says that it has none; it was refused."
    case .undeclaredSound: "pushed sound though it says that it has none; it was refused."
    case .timeBackwards: "pushed a picture older than the one before; its time was corrected."
    case .timeFarOff: "gave a time far from the present on CLOCK_MONOTONIC; the present was taken instead."
    case .damageOutside: "named changed parts outside the picture; the whole picture was taken as changed."
    case .samplesNotANumber: "pushed sound with samples that are no numbers; they were silenced."
    case .beforeStart: "pushed before it was started; that was ignored."
    case .afterStop: "pushed after it was stopped; that was ignored."
    }
  }
}

/// Totals of a plugin's pushes.
public struct PluginStatistics: Hashable, Sendable {
  /// Pictures taken.
  public var pictures: UInt64 = 0
  /// Stretches of sound taken.
  public var sounds: UInt64 = 0
  /// Pushes that had to wait.
  public var busy: UInt64 = 0
  /// Pictures copied on their way: those in a plugin's own memory under isolation. All others travel by reference.
  public var copies: UInt64 = 0
  /// Broken rules.
  public var faults: [PluginFault: UInt64] = [:]
  /// How often a plugin's process was started again after it died.
  public var restarts: UInt64 = 0

  /// All counts zero.
  public init() {}
}
