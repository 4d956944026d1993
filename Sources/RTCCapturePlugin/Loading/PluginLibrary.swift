import CRTCastPlugin
import Glibc
import RTCCapture
public import RTCMedia
import RTCNet
import RTCPrimitives

/// A loaded plugin. It stays loaded until the process ends: its threads may run on after it was stopped.
///
/// `@unchecked Sendable`: the table is written by `init` alone and lives as long as the process.
@safe
public final class PluginLibrary: @unchecked Sendable {
  /// The path of the library.
  public let path: String
  /// The plugin's description, read when it was loaded.
  public let description: PluginDescription
  let start: StartFunction
  let halt: EndFunction?
  let stop: EndFunction
  /// Pushes within the entry function, when there is no receiver.
  let earlyPushes: UInt64

  typealias StartFunction =
    @convention(c) (
      OpaquePointer?, UnsafePointer<rtcast_option>?, UInt32, UnsafeMutablePointer<rtcast_request>?,
      UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32
  typealias EndFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void
  private typealias EntryFunction = @convention(c) (UnsafeMutablePointer<rtcast_plugin>?) -> Int32

  /// Bytes for the table, more than the host's own: a newer plugin that ignores the version writes into the spare part,
  /// not into other memory.
  private static let tableRoom = 4096

  /// Loads the library at `path` and reads its description. Runs code of the plugin.
  public init(path: String) throws(CaptureError) {
    self.path = path
    let entry = unsafe try Self.load(path)
    // Never freed: see the type's comment.
    let room = UnsafeMutableRawPointer.allocate(byteCount: Self.tableRoom, alignment: 16)
    unsafe room.initializeMemory(as: UInt8.self, repeating: 0, count: Self.tableRoom)
    let table = unsafe room.bindMemory(to: rtcast_plugin.self, capacity: 1)
    unsafe table.pointee.abi_version = RTCAST_PLUGIN_ABI
    unsafe table.pointee.table_size = unsafe UInt32(MemoryLayout<rtcast_plugin>.size)
    unsafe table.pointee.push_picture = unsafe HostFunctions.pushPicture
    unsafe table.pointee.push_sound = unsafe HostFunctions.pushSound
    unsafe table.pointee.borrow_picture = unsafe HostFunctions.borrowPicture
    unsafe table.pointee.say = unsafe HostFunctions.say
    let before = HostHandles.strays
    let status = unsafe entry(table)
    earlyPushes = min(HostHandles.strays - before, 1000)
    guard unsafe table.pointee.abi_version == RTCAST_PLUGIN_ABI else {
      throw .unsupportedFormat(
        unsafe "\(path) is made for version \(table.pointee.abi_version) of the plugin interface, and this rtcast has version "
          + "\(RTCAST_PLUGIN_ABI); build it again with the rtcast_plugin.h of this rtcast.")
    }
    guard status == Int32(RTCAST_OK) else {
      throw .unavailable("The plugin \(path) says that it cannot work here (status \(status)).")
    }
    guard let start = unsafe table.pointee.start, let stop = unsafe table.pointee.stop else {
      throw .unsupportedFormat("The plugin \(path) has no `start` or no `stop` in its table; its author can mend this.")
    }
    unsafe self.start = unsafe start
    unsafe self.stop = unsafe stop
    unsafe halt = unsafe table.pointee.halt
    description = unsafe try Self.describe(table.pointee, path: path)
  }

  /// Loads a library on a thread of its own, which is abandoned if the plugin does not return from its entry function.
  static func load(_ path: String, patience: TimeDelta) throws(CaptureError) -> PluginLibrary {
    let loading = Monitor<Result<PluginLibrary, CaptureError>?>(nil)
    do throws(SystemError) {
      _ = try NamedThread(name: "rtc-plugin-load") {
        let result: Result<PluginLibrary, CaptureError>
        do throws(CaptureError) { result = .success(try PluginLibrary(path: path)) } catch { result = .failure(error) }
        loading.change { $0 = result }
      }
    } catch {
      throw CaptureError(error)
    }
    guard let result = loading.wait(until: MonotonicClock.now() + patience, { $0 }) else {
      throw .unavailable(
        "The plugin \(path) did not return from `rtcast_plugin_entry` within \(patience.words), and was given up; its "
          + "author can mend this.")
    }
    return try result.get()
  }

  private static func load(_ path: String) throws(CaptureError) -> EntryFunction {
    do throws(ELFImage.Flaw) { try ELFImage.check(path) } catch { throw CaptureError(error, path: path) }
    // Without a slash the loader would search its own folders.
    let name = path.contains("/") ? path : "./\(path)"
    guard let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
      throw .unsupportedFormat("The plugin \(path) cannot be loaded: \(loaderError).")
    }
    guard let symbol = unsafe dlsym(handle, "rtcast_plugin_entry") else {
      throw .unsupportedFormat(
        "\(path) is a library but no plugin of rtcast: it does not export rtcast_plugin_entry.")
    }
    return unsafe unsafeBitCast(symbol, to: EntryFunction.self)
  }

  private static var loaderError: String {
    unsafe dlerror().map { unsafe String(cString: $0) } ?? "the loader gives no reason"
  }

  private static func describe(_ table: rtcast_plugin, path: String) throws(CaptureError) -> PluginDescription {
    let traits = unsafe Int(table.traits)
    let hasPictures = traits & RTCAST_HAS_PICTURES != 0
    let hasSound = traits & RTCAST_HAS_SOUND != 0
    guard hasPictures || hasSound else {
      throw .unsupportedFormat(
        "The plugin \(path) says that it has neither pictures nor sound; its author can mend this.")
    }
    let size = unsafe PixelSize(width: Int(table.width), height: Int(table.height))
    let fileName = path.split(separator: "/").last.map(String.init) ?? path
    let rate = unsafe table.frames_per_second
    return unsafe PluginDescription(
      name: text(table.name, limit: 64) ?? fileName, summary: text(table.summary, limit: 500) ?? "",
      optionsHelp: text(table.options_help, limit: 8000) ?? "", hasPictures: hasPictures, hasSound: hasSound,
      isScreencast: traits & RTCAST_IS_SCREENCAST != 0,
      size: PictureRules.sides.contains(size.width) && PictureRules.sides.contains(size.height) ? size : nil,
      frameRate: rate.isFinite && rate > 0 && rate <= 1000 ? rate : nil)
  }

  /// A plugin's text, without what would drive a terminal; nil when there is none. Reads `limit` bytes at most.
  static func text(_ start: UnsafePointer<CChar>?, limit: Int) -> String? {
    guard let start = unsafe start else { return nil }
    let bytes = unsafe UnsafeBufferPointer(start: start, count: strnlen(start, limit))
    let text = unsafe String(decoding: bytes.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let kept = text.unicodeScalars.filter { $0 == "\n" || $0.properties.generalCategory != .control }
    return kept.isEmpty ? nil : String(String.UnicodeScalarView(kept))
  }
}

extension CaptureError {
  fileprivate init(_ flaw: ELFImage.Flaw, path: String) {
    self =
      switch flaw {
      case .unreadable(ENOENT), .unreadable(ENOTDIR):
        .noSuchSource("There is no plugin \(path); `rtcast list plugins` shows those that are found by name.")
      case .unreadable(EACCES), .unreadable(EPERM):
        .notPermitted("The plugin \(path) may not be read; see its permissions.")
      case .unreadable(let error):
        .noSuchSource(unsafe "The plugin \(path) cannot be read: \(String(cString: strerror(error))).")
      case .notAFile: .noSuchSource("\(path) is no file; a plugin is a shared library (.so).")
      case .notALibrary: .unsupportedFormat("\(path) is no shared library, and so no plugin.")
      case .otherMachine: .unsupportedFormat("The plugin \(path) was built for another kind of machine; build it here.")
      case .cutShort: .unsupportedFormat("The plugin \(path) is cut short; build or copy it again.")
      }
  }
}
