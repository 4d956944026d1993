import CRTCastPlugin
import Synchronization

/// The `rtcast_host` pointers that plugins were given: numbers, not addresses, so that one that is stale or made up finds
/// nothing. The one global state of this target: C calls bring nothing else along.
enum HostHandles {
  private struct Table {
    var live: [UInt: PluginInlet] = [:]
    var next: UInt = 0x1000
    /// Calls with a handle that is not live.
    var strays: UInt64 = 0
  }

  private static let table = Mutex(Table())

  static func add(_ inlet: PluginInlet) -> UInt {
    table.withLock {
      $0.next += 16
      $0.live[$0.next] = inlet
      return $0.next
    }
  }

  static func remove(_ handle: UInt) {
    // Freed outside the lock.
    _ = table.withLock { $0.live.removeValue(forKey: handle) }
  }

  static func inlet(_ host: OpaquePointer?) -> PluginInlet? {
    table.withLock {
      if let inlet = $0.live[UInt(bitPattern: host)] { return inlet }
      $0.strays += 1
      return nil
    }
  }

  static var strays: UInt64 { table.withLock { $0.strays } }
}

/// The host's four functions of the table. Any thread of any plugin calls them. A plugin's pointers must be valid
/// during the call; only isolation protects against plugins that violate this.
enum HostFunctions {
  static let pushPicture: @convention(c) (OpaquePointer?, UnsafePointer<rtcast_picture>?) -> Int32 = { host, picture in
    guard let inlet = unsafe HostHandles.inlet(host) else { return Int32(RTCAST_STOPPED) }
    guard let picture = unsafe picture else { return inlet.refuse(.structSize) }
    guard unsafe picture.pointee.struct_size >= MemoryLayout<rtcast_picture>.size else {
      return inlet.refuse(.structSize)
    }
    return unsafe inlet.push(picture.pointee)
  }

  static let pushSound: @convention(c) (OpaquePointer?, UnsafePointer<rtcast_sound>?) -> Int32 = { host, sound in
    guard let inlet = unsafe HostHandles.inlet(host) else { return Int32(RTCAST_STOPPED) }
    guard let sound = unsafe sound else { return inlet.refuse(.structSize) }
    guard unsafe sound.pointee.struct_size >= MemoryLayout<rtcast_sound>.size else { return inlet.refuse(.structSize) }
    return unsafe inlet.push(sound.pointee)
  }

  static let borrowPicture: @convention(c) (OpaquePointer?, UnsafeMutablePointer<rtcast_picture>?) -> Int32 = {
    host, picture in
    guard let inlet = unsafe HostHandles.inlet(host) else { return Int32(RTCAST_STOPPED) }
    guard let picture = unsafe picture else { return inlet.refuse(.structSize) }
    guard unsafe picture.pointee.struct_size >= MemoryLayout<rtcast_picture>.size else {
      return inlet.refuse(.structSize)
    }
    return unsafe inlet.borrow(&picture.pointee)
  }

  static let say: @convention(c) (OpaquePointer?, UInt32, UnsafePointer<CChar>?) -> Void = { host, about, text in
    unsafe HostHandles.inlet(host)?.hear(about, PluginLibrary.text(text, limit: 1000))
  }
}
