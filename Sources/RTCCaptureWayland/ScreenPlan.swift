import RTCCapture
import RTCMedia

/// The monitors, or the parts of them, that make up a picture. A pure value.
struct ScreenPlan: Equatable {
  /// A part of a monitor.
  struct Part: Equatable {
    /// The index of the monitor.
    var output: Int
    /// The part, in pixels of the monitor's upright picture.
    var rect: PixelRect
    /// The place of its upper left corner in the picture.
    var x: Int
    var y: Int

    /// A part of the monitor's picture in the whole picture; empty if it is beside it.
    func placed(_ change: PixelRect) -> PixelRect {
      let inside = change.intersection(rect)
      return PixelRect(x: inside.x - rect.x + x, y: inside.y - rect.y + y, width: inside.width, height: inside.height)
    }
  }

  /// A monitor as it takes part.
  struct Monitor: Equatable {
    var name: String
    /// In pixels, upright.
    var size: PixelSize
    /// In the desktop's units.
    var place: PixelRect

    /// Pixels for each unit of the desktop.
    var scale: Double { Double(size.width) / Double(place.width) }
  }

  var size: PixelSize
  var parts: [Part]
  /// The part of the desktop that the picture shows, in the desktop's units.
  var area: PixelRect

  /// Larger pictures can hardly be sent.
  private static let largestSide = 32_768

  /// Finds `target` on the monitors, of which there is at least one.
  init(_ target: WaylandCaptureOptions.Target, on monitors: [Monitor]) throws(CaptureError) {
    switch target {
    case .monitor(let wanted):
      let index = try Self.index(of: wanted, in: monitors)
      size = monitors[index].size
      area = monitors[index].place
      parts = [Part(output: index, rect: PixelRect(size), x: 0, y: 0)]
    case .screen:
      let whole = monitors.reduce(PixelRect(x: 0, y: 0, width: 0, height: 0)) { $0.union($1.place) }
      self = try Self(whole, on: monitors)
    case .region(let rect):
      let whole = monitors.reduce(PixelRect(x: 0, y: 0, width: 0, height: 0)) { $0.union($1.place) }
      guard !rect.isEmpty, rect.intersection(whole) == rect else {
        throw .unsupportedFormat(
          "The region \(rect.width)x\(rect.height)+\(rect.x)+\(rect.y) is not inside the screen, which is "
            + "\(whole.width)x\(whole.height)+\(whole.x)+\(whole.y).")
      }
      self = try Self(rect, on: monitors)
    }
  }

  /// A part of the desktop, in its units.
  private init(_ area: PixelRect, on monitors: [Monitor]) throws(CaptureError) {
    let shown = monitors.indices.filter { !monitors[$0].place.intersection(area).isEmpty }
    guard let first = shown.first else {
      throw .noSuchSource("No monitor shows a part of the region; `rtcast list monitors` shows their places.")
    }
    let scale = monitors[first].scale
    guard shown.allSatisfy({ abs(monitors[$0].scale - scale) < 0.01 }) else {
      let names = shown.map { monitors[$0].name }.joined(separator: ", ")
      throw .unsupportedFormat(
        "The monitors \(names) have different scales, so they do not make up one picture; choose one of them with "
          + "--monitor.")
    }
    func pixels(_ units: Int) -> Int { Int((Double(units) * scale).rounded()) }
    size = PixelSize(width: pixels(area.width), height: pixels(area.height))
    guard size.width > 0, size.height > 0, size.width <= Self.largestSide, size.height <= Self.largestSide else {
      throw .unsupportedFormat("The monitors together are \(size) pixels; choose one of them with --monitor.")
    }
    var found: [Part] = []
    for index in shown {
      let monitor = monitors[index]
      let (left, top) = (pixels(monitor.place.x - area.x), pixels(monitor.place.y - area.y))
      let placed = PixelRect(x: left, y: top, width: monitor.size.width, height: monitor.size.height)
        .intersection(PixelRect(size))
      guard !placed.isEmpty else { continue }
      let rect = PixelRect(x: placed.x - left, y: placed.y - top, width: placed.width, height: placed.height)
      found.append(Part(output: index, rect: rect, x: placed.x, y: placed.y))
    }
    parts = found
    self.area = area
  }

  /// The part of the desktop, and the size of its picture.
  var placement: ScreenPlacement { ScreenPlacement(area: area, picture: size) }

  /// The part that is the whole picture; nil if there are several, or one with something beside it.
  var only: Part? { parts.count == 1 && parts[0].rect.size == size ? parts[0] : nil }

  private static func index(of wanted: String, in monitors: [Monitor]) throws(CaptureError) -> Int {
    let lowered = wanted.lowercased()
    if let index = monitors.firstIndex(where: { $0.name == wanted })
      ?? monitors.firstIndex(where: { $0.name.lowercased() == lowered })
    {
      return index
    }
    if let index = Int(wanted), monitors.indices.contains(index) { return index }
    let names = monitors.enumerated().map { "\($0) (\($1.name))" }.joined(separator: ", ")
    throw .noSuchSource("There is no monitor \(wanted); there are: \(names).")
  }
}
