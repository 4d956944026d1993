import CX11
import RTCMedia

extension X11Connection {
  /// Every window that has a title, outermost first.
  func titledWindows() -> [X11Window] {
    let atoms = WindowTitleAtoms(self)
    var found: [X11Window] = []
    var level = children(of: [root])
    while !level.isEmpty {
      for window in level {
        guard let title = title(of: window, atoms), let described = describe(window, title) else { continue }
        found.append(described)
      }
      level = children(of: level)
    }
    return found
  }

  /// The window with this number (decimal or 0x…), or the one whose title contains this text (case does not matter;
  /// a title that is exactly the text wins, and one that is shown wins over one that is not).
  func window(_ wanted: String) throws(CaptureError) -> X11Window {
    if let number = Self.number(wanted) {
      guard let window = describe(number, title(of: number, WindowTitleAtoms(self)) ?? "") else {
        throw .noSuchSource(
          "There is no window \(wanted) on the X display \(displayName); `rtcast list windows` shows what there is.")
      }
      return window
    }
    let text = wanted.lowercased()
    var matches = titledWindows().filter { $0.title.lowercased().contains(text) }
    if case let exact = matches.filter({ $0.title.lowercased() == text }), !exact.isEmpty { matches = exact }
    if case let shown = matches.filter(\.isMapped), !shown.isEmpty { matches = shown }
    let inner = matches.count > 1 ? Set(descendants(of: matches.map(\.id))) : []
    matches.removeAll { inner.contains($0.id) }
    guard let window = matches.first else {
      throw .noSuchSource(
        "No window on the X display \(displayName) has “\(wanted)” in its title; `rtcast list windows` shows what there is."
      )
    }
    guard matches.count == 1 else {
      let list = matches.prefix(8).map { "\($0.idText) “\($0.title)”" }.joined(separator: ", ")
      throw .noSuchSource(
        "\(matches.count) windows have “\(wanted)” in their titles: \(list). Say which by its number.")
    }
    return window
  }

  private static func number(_ text: String) -> UInt32? {
    text.lowercased().hasPrefix("0x") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text)
  }

  private func children(of windows: [xcb_window_t]) -> [xcb_window_t] {
    // All questions first, then all answers: one round trip a level.
    let cookies = windows.map { xcb_query_tree(raw, $0) }
    return cookies.flatMap { cookie -> [xcb_window_t] in
      guard let reply = reply(xcb_query_tree_reply(raw, cookie, nil)) else { return [] }
      return Array(
        UnsafeBufferPointer(
          start: xcb_query_tree_children(reply.pointer), count: Int(xcb_query_tree_children_length(reply.pointer))))
    }
  }

  private func descendants(of windows: [xcb_window_t]) -> [xcb_window_t] {
    var all: [xcb_window_t] = []
    var level = children(of: windows)
    while !level.isEmpty {
      all += level
      level = children(of: level)
    }
    return all
  }

  private func describe(_ window: xcb_window_t, _ title: String) -> X11Window? {
    guard let attributes = attributes(of: window),
      Int32(attributes._class) == Int32(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue),
      let geometry = geometry(of: window)
    else { return nil }
    let cookie = xcb_translate_coordinates(raw, window, root, 0, 0)
    guard let place = reply(xcb_translate_coordinates_reply(raw, cookie, nil)) else { return nil }
    let rect = PixelRect(
      x: Int(place.pointer.pointee.dst_x), y: Int(place.pointer.pointee.dst_y), width: geometry.size.width,
      height: geometry.size.height)
    return X11Window(
      id: window, title: title, rect: rect,
      isMapped: Int32(attributes.map_state) == Int32(XCB_MAP_STATE_VIEWABLE.rawValue))
  }

  private func title(of window: xcb_window_t, _ atoms: WindowTitleAtoms) -> String? {
    // Both questions first, then both answers.
    let cookies = [atoms.netName, xcb_atom_t(XCB_ATOM_WM_NAME.rawValue)].map {
      xcb_get_property(raw, 0, window, $0, 0, 0, 256)
    }
    let titles = cookies.map { cookie -> String? in
      guard let reply = reply(xcb_get_property_reply(raw, cookie, nil)) else { return nil }
      let count = Int(xcb_get_property_value_length(reply.pointer))
      guard count > 0, reply.pointer.pointee.format == 8 else { return nil }
      let bytes = UnsafeRawBufferPointer(start: xcb_get_property_value(reply.pointer), count: count)
      let isCut = reply.pointer.pointee.bytes_after > 0
      return atoms.text(Array(bytes), of: reply.pointer.pointee.type, isCut: isCut)
    }
    return titles[0] ?? titles[1]
  }
}
