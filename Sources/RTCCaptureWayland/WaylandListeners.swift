import CWayland

/// The C functions that libwayland-client calls, each of which finds its object and calls it. The tables live as long as
/// the program.
enum WaylandListeners {
  /// The object that was registered with a listener, and lives as long as the listener is called.
  private static func owner<Object: AnyObject>(_ data: UnsafeMutableRawPointer?, _: Object.Type) -> Object {
    Unmanaged<Object>.fromOpaque(data!).takeUnretainedValue()
  }

  private static func table<Listener>(_ listener: Listener) -> UnsafeMutablePointer<Listener> {
    let pointer = UnsafeMutablePointer<Listener>.allocate(capacity: 1)
    pointer.initialize(to: listener)
    return pointer
  }

  nonisolated(unsafe) static let registry = table(
    wl_registry_listener(
      global: { data, _, name, interface, version in
        guard let interface else { return }
        owner(data, WaylandConnection.self).add(
          global: name, interface: String(cString: interface), version: version)
      },
      global_remove: { data, _, name in owner(data, WaylandConnection.self).remove(global: name) }))

  nonisolated(unsafe) static let callback = table(
    wl_callback_listener(done: { data, callback, _ in
      wl_callback_destroy(callback)
      owner(data, WaylandConnection.self).noteAnswer()
    }))

  nonisolated(unsafe) static let output = table(
    wl_output_listener(
      geometry: { data, _, x, y, _, _, _, _, _, transform in
        owner(data, WaylandOutput.self).setGeometry(x: x, y: y, transform: transform)
      },
      mode: { data, _, flags, width, height, _ in
        owner(data, WaylandOutput.self).setMode(flags: flags, width: width, height: height)
      },
      done: { data, _ in owner(data, WaylandOutput.self).finishChange() },
      scale: { data, _, scale in owner(data, WaylandOutput.self).setScale(scale) },
      name: { data, _, name in owner(data, WaylandOutput.self).setName(name) },
      description: { data, _, text in owner(data, WaylandOutput.self).setDescription(text) }))

  nonisolated(unsafe) static let xdgOutput = table(
    zxdg_output_v1_listener(
      logical_position: { data, _, x, y in owner(data, WaylandOutput.self).setLogicalPosition(x: x, y: y) },
      logical_size: { data, _, width, height in
        owner(data, WaylandOutput.self).setLogicalSize(width: width, height: height)
      },
      // Versions before 3 end a description by this, later ones by that of the output.
      done: { data, _ in owner(data, WaylandOutput.self).finishChange() },
      name: { data, _, name in owner(data, WaylandOutput.self).setName(name) },
      description: { data, _, text in owner(data, WaylandOutput.self).setDescription(text) }))

  nonisolated(unsafe) static let frame = table(
    zwlr_screencopy_frame_v1_listener(
      buffer: { data, _, format, width, height, stride in
        owner(data, ScreencopyFrames.self).take(offer: format, width: width, height: height, stride: stride)
      },
      flags: { data, _, flags in owner(data, ScreencopyFrames.self).take(flags: flags) },
      ready: { data, _, high, low, nanoseconds in
        owner(data, ScreencopyFrames.self).finish(high: high, low: low, nanoseconds: nanoseconds)
      },
      failed: { data, _ in owner(data, ScreencopyFrames.self).fail() },
      damage: { data, _, x, y, width, height in
        owner(data, ScreencopyFrames.self).take(damage: x, y, width, height)
      },
      linux_dmabuf: { _, _, _, _, _ in },
      buffer_done: { data, _ in owner(data, ScreencopyFrames.self).finishOffers() }))

  nonisolated(unsafe) static let imageSession = table(
    ext_image_copy_capture_session_v1_listener(
      buffer_size: { data, _, width, height in owner(data, ImageCopySession.self).take(width: width, height: height) },
      shm_format: { data, _, format in owner(data, ImageCopySession.self).take(format: format) },
      dmabuf_device: { _, _, _ in },
      dmabuf_format: { _, _, _, _ in },
      done: { data, _ in owner(data, ImageCopySession.self).finishConstraints() },
      stopped: { data, _ in owner(data, ImageCopySession.self).stop() }))

  nonisolated(unsafe) static let imageFrame = table(
    ext_image_copy_capture_frame_v1_listener(
      transform: { data, _, transform in owner(data, ImageCopySession.self).take(transform: transform) },
      damage: { data, _, x, y, width, height in
        owner(data, ImageCopySession.self).take(damage: x, y, width, height)
      },
      presentation_time: { data, _, high, low, nanoseconds in
        owner(data, ImageCopySession.self).take(high: high, low: low, nanoseconds: nanoseconds)
      },
      ready: { data, _ in owner(data, ImageCopySession.self).finish() },
      failed: { data, _, reason in owner(data, ImageCopySession.self).fail(reason) }))
}
