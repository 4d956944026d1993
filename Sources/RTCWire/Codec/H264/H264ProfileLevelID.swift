/// H.264's `profile-level-id` parameter (RFC 6184 §8.1): three bytes in hexadecimal,
///
///     profile_idc | constraint flags (profile-iop) | level_idc
public struct H264ProfileLevelID: Hashable, Sendable {
  /// The profile: which tools of H.264 a decoder must have.
  public var profile: Profile
  /// The level: how much a decoder must be able to do.
  public var level: Level

  /// The profiles that are known here (RFC 6184 §8.1, table 5).
  public enum Profile: Hashable, Sendable {
    case constrainedBaseline, baseline, main, constrainedHigh, high, highPredictive444
  }

  /// Ten times the level's number, so 31 is level 3.1. Level 1b, between 10 and 11, is `b1`.
  public struct Level: Hashable, Comparable, Sendable {
    /// Ten times the level's number; 10 for level 1b, whose `level_idc` is 9 or 11.
    public var number: UInt8
    let isB: Bool

    /// The level of `number` / 10, so 31 is level 3.1; nothing is checked.
    public init(_ number: UInt8) { self.init(number: number, isB: false) }
    private init(number: UInt8, isB: Bool) {
      self.number = number
      self.isB = isB
    }
    /// Level 1b, between 1 and 1.1.
    public static let b1 = Level(number: 10, isB: true)

    /// True when `a` is the lower level; 1b is above 1 and below 1.1.
    public static func < (a: Level, b: Level) -> Bool {
      a.number == b.number ? !a.isB && b.isB : a.number < b.number
    }
  }

  /// The parameter for this profile and level.
  public init(profile: Profile, level: Level) {
    self.profile = profile
    self.level = level
  }

  /// The value if the parameter is absent. RFC 6184 assumes Baseline level 1; browsers assume this one, which RFC 7742
  /// §6.2 requires.
  public static let assumed = H264ProfileLevelID(profile: .constrainedBaseline, level: Level(31))

  /// Reads six hexadecimal digits; nil for other text, and for profiles and levels that are not known here.
  public init?(parsing text: String) {
    guard text.utf8.count == 6, text.utf8.first != UInt8(ascii: "+"), let value = UInt32(text, radix: 16) else {
      return nil
    }
    self.init(
      profileIDC: UInt8(truncatingIfNeeded: value >> 16), constraints: UInt8(truncatingIfNeeded: value >> 8),
      levelIDC: UInt8(truncatingIfNeeded: value))
  }

  /// From the three bytes of a sequence parameter set (ITU-T H.264 §7.3.2.1.1); nil for profiles and levels that are not
  /// known here.
  public init?(profileIDC: UInt8, constraints: UInt8, levelIDC number: UInt8) {
    let set = { (flag: UInt8) in constraints & (0x80 >> flag) != 0 }  // constraint_set0_flag is the highest bit
    switch profileIDC {
    case 66: profile = set(1) ? .constrainedBaseline : .baseline
    case 77: profile = set(0) ? .constrainedBaseline : .main
    case 88: profile = set(0) && set(1) ? .constrainedBaseline : .baseline
    case 100: profile = set(4) && set(5) ? .constrainedHigh : .high
    case 244: profile = .highPredictive444
    default: return nil
    }
    let mayBeB = profile == .constrainedBaseline || profile == .baseline || profile == .main
    if number == 9 || (number == 11 && mayBeB && set(3)) {
      level = .b1
    } else if [10, 11, 12, 13, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 52, 60, 61, 62].contains(number) {
      level = Level(number)
    } else {
      return nil
    }
  }
}

extension H264ProfileLevelID: CustomStringConvertible {
  /// The parameter's six hexadecimal digits.
  public var description: String {
    let isB = level == .b1
    var (idc, flags): (UInt32, UInt32) =
      switch profile {
      case .constrainedBaseline: (66, 0xE0)
      case .baseline: (66, 0)
      case .main: (77, 0)
      case .constrainedHigh: (100, 0x0C)
      case .high: (100, 0)
      case .highPredictive444: (244, 0)
      }
    var number = UInt32(level.number)
    if isB, idc == 66 || idc == 77 { (number, flags) = (11, flags | 0x10) } else if isB { number = 9 }
    idc = idc << 16 | flags << 8 | number
    let digits = String(idc, radix: 16)
    return String(repeating: "0", count: 6 - digits.utf8.count) + digits
  }
}
