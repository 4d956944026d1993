import CX11
import RTCCapture
import RTCMedia
import RTCPrimitives

/// Collects what the server says has changed in a window, in the window's coordinates.
///
/// The server tells once that something changed and then waits until the damage is taken. Taking it soon lets later
/// changes be heard, too, which the frame clock needs; taking it at every change of an application that paints without
/// pause would be a flood. So the first change is taken at once and the following ones with growing pauses.
struct DamageTracker {
  private static let pauses: [TimeDelta] = [.zero, .milliseconds(1), .milliseconds(3)]

  private let connection: X11Connection
  private let damage: UInt32
  private let taken: UInt32
  private let collected: UInt32
  private var lastNotice = Timestamp(nanoseconds: 0)
  private var step = 0
  private var serverClock = ServerClock()
  /// When the damage is to be taken so that the next change is heard.
  private(set) var takeAt: Timestamp?

  init(_ connection: X11Connection, window: xcb_window_t) {
    self.connection = connection
    damage = connection.newID()
    taken = connection.newID()
    collected = connection.newID()
    xcb_damage_create(connection.raw, damage, window, UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue))
    xcb_xfixes_create_region(connection.raw, taken, 0, nil)
    xcb_xfixes_create_region(connection.raw, collected, 0, nil)
  }

  /// Returns when the change happened, which is earlier than `now` when the capture thread was busy.
  mutating func noteChange(serverTime: UInt32, now: Timestamp) -> Timestamp {
    let time = serverClock.localTime(of: serverTime, heardAt: now)
    step = now - lastNotice < .milliseconds(4) ? min(step + 1, Self.pauses.count - 1) : 0
    lastNotice = now
    takeAt = now + Self.pauses[step]
    return time
  }

  /// Moves the damage so far to the collection. Needs no answer from the server.
  mutating func take() {
    takeAt = nil
    xcb_damage_subtract(connection.raw, damage, 0, taken)
    xcb_xfixes_union_region(connection.raw, taken, collected, collected)
  }

  /// All that changed since the last call; nil when the connection broke.
  mutating func collect() -> [PixelRect]? {
    take()
    let cookie = xcb_xfixes_fetch_region(connection.raw, collected)
    xcb_xfixes_set_region(connection.raw, collected, 0, nil)
    guard let reply = connection.reply(xcb_xfixes_fetch_region_reply(connection.raw, cookie, nil)) else { return nil }
    let rects = UnsafeBufferPointer(
      start: xcb_xfixes_fetch_region_rectangles(reply.pointer),
      count: Int(xcb_xfixes_fetch_region_rectangles_length(reply.pointer)))
    return rects.map { PixelRect(x: Int($0.x), y: Int($0.y), width: Int($0.width), height: Int($0.height)) }
  }
}

/// Turns the server's milliseconds into local time: the quickest notice heard so far had the least delay.
private struct ServerClock {
  private var offset: Int64?
  private var lastHeard = Timestamp.zero

  mutating func localTime(of serverTime: UInt32, heardAt now: Timestamp) -> Timestamp {
    // The difference of two 32-bit counters of milliseconds, right across their wrap.
    let difference = Int64(Int32(truncatingIfNeeded: now.milliseconds &- Int64(serverTime)))
    if let known = offset {
      // Clocks of two machines drift apart by up to 200 millionths.
      let drift = (now - lastHeard).milliseconds / 5000
      offset = min(known + drift, difference)
    } else {
      offset = difference
    }
    lastHeard = now
    return now - .milliseconds(min(1000, difference - offset!))
  }
}
