import CX11

/// Which extensions the server has, in which versions, and which numbers their events carry on this connection.
struct X11Extensions {
  struct Version: Hashable, CustomStringConvertible {
    var major: Int
    var minor: Int
    var description: String { "\(major).\(minor)" }
  }

  let shm: Version?
  let damage: Version?
  let fixes: Version?
  let randr: Version?
  let composite: Version?
  let input: Version?

  let damageEvent: UInt8
  let fixesEvent: UInt8
  let randrEvent: UInt8
  let inputOpcode: UInt8

  /// Negotiates the versions; a server demands that before any other request of most extensions.
  init(_ raw: OpaquePointer, _ watch: AnswerWatch) {
    func data(_ name: rtc_x11_extension) -> xcb_query_extension_reply_t? {
      watch.awaiting { rtc_x11_extension_data(raw, name)?.pointee }
    }
    let (damageData, fixesData, randrData) = (data(RTC_X11_DAMAGE), data(RTC_X11_XFIXES), data(RTC_X11_RANDR))
    let inputData = data(RTC_X11_XINPUT)
    damageEvent = damageData?.first_event ?? 0
    fixesEvent = fixesData?.first_event ?? 0
    randrEvent = randrData?.first_event ?? 0
    inputOpcode = inputData?.major_opcode ?? 0
    shm = data(RTC_X11_SHM).flatMap { _ in Self.shmVersion(raw, watch) }
    damage = damageData.flatMap { _ in Self.damageVersion(raw, watch) }
    fixes = fixesData.flatMap { _ in Self.fixesVersion(raw, watch) }
    randr = randrData.flatMap { _ in Self.randrVersion(raw, watch) }
    composite = data(RTC_X11_COMPOSITE).flatMap { _ in Self.compositeVersion(raw, watch) }
    input = inputData.flatMap { _ in Self.inputVersion(raw, watch) }
  }

  /// Damage tells rectangles through regions of XFixes.
  var hasDamage: Bool { damage != nil && (fixes?.major ?? 0) >= 2 }
  var hasCursor: Bool { (fixes?.major ?? 0) >= 2 }
  var hasMonitors: Bool { randr.map { ($0.major, $0.minor) >= (1, 5) } ?? false }
  var hasWindowPixmaps: Bool { composite.map { ($0.major, $0.minor) >= (0, 2) } ?? false }
  var hasRawMotion: Bool { (input?.major ?? 0) >= 2 }

  private static func shmVersion(_ raw: OpaquePointer, _ watch: AnswerWatch) -> Version? {
    guard let reply = watch.reply(xcb_shm_query_version_reply(raw, xcb_shm_query_version(raw), nil)) else { return nil }
    return Version(major: Int(reply.pointer.pointee.major_version), minor: Int(reply.pointer.pointee.minor_version))
  }

  private static func damageVersion(_ raw: OpaquePointer, _ watch: AnswerWatch) -> Version? {
    guard let reply = watch.reply(xcb_damage_query_version_reply(raw, xcb_damage_query_version(raw, 1, 1), nil)) else {
      return nil
    }
    return Version(major: Int(reply.pointer.pointee.major_version), minor: Int(reply.pointer.pointee.minor_version))
  }

  private static func fixesVersion(_ raw: OpaquePointer, _ watch: AnswerWatch) -> Version? {
    guard let reply = watch.reply(xcb_xfixes_query_version_reply(raw, xcb_xfixes_query_version(raw, 5, 0), nil)) else {
      return nil
    }
    return Version(major: Int(reply.pointer.pointee.major_version), minor: Int(reply.pointer.pointee.minor_version))
  }

  private static func randrVersion(_ raw: OpaquePointer, _ watch: AnswerWatch) -> Version? {
    guard let reply = watch.reply(xcb_randr_query_version_reply(raw, xcb_randr_query_version(raw, 1, 5), nil)) else {
      return nil
    }
    return Version(major: Int(reply.pointer.pointee.major_version), minor: Int(reply.pointer.pointee.minor_version))
  }

  private static func compositeVersion(_ raw: OpaquePointer, _ watch: AnswerWatch) -> Version? {
    guard let reply = watch.reply(xcb_composite_query_version_reply(raw, xcb_composite_query_version(raw, 0, 4), nil))
    else { return nil }
    return Version(major: Int(reply.pointer.pointee.major_version), minor: Int(reply.pointer.pointee.minor_version))
  }

  private static func inputVersion(_ raw: OpaquePointer, _ watch: AnswerWatch) -> Version? {
    guard let reply = watch.reply(xcb_input_xi_query_version_reply(raw, xcb_input_xi_query_version(raw, 2, 2), nil))
    else {
      return nil
    }
    return Version(major: Int(reply.pointer.pointee.major_version), minor: Int(reply.pointer.pointee.minor_version))
  }
}
