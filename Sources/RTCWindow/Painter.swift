import CSDL2
import Glibc
import RTCMedia

/// Draws the whole window. Used on the window's thread.
final class Painter {
  let isByProcessor: Bool
  private let renderer: OpaquePointer
  private let limits: PictureLimits
  private var textures: [Key: PictureTexture] = [:]

  enum Key: Hashable {
    case remote(Int)
    case preview
  }

  init(_ window: OpaquePointer, _ drawing: Drawing) throws(WindowError) {
    let renderer = Self.renderer(window, drawing)
    guard let renderer else {
      throw .refused("The display lets nothing be drawn in a window (\(SDL.error)).")
    }
    self.renderer = renderer
    var info = SDL_RendererInfo()
    SDL_GetRendererInfo(renderer, &info)
    isByProcessor = info.flags & SDL_RENDERER_SOFTWARE.rawValue != 0
    limits = PictureLimits(info)
  }

  deinit {
    textures.removeAll()
    SDL_DestroyRenderer(renderer)
  }

  /// Synchronises with the screen's refresh if the card supports it, to avoid tearing.
  private static func renderer(_ window: OpaquePointer, _ drawing: Drawing) -> OpaquePointer? {
    let byCard = SDL_RENDERER_ACCELERATED.rawValue | SDL_RENDERER_PRESENTVSYNC.rawValue
    // Only X11 takes pictures from memory. Elsewhere SDL would hand them to OpenGL after all.
    let takesMemory = SDL_GetCurrentVideoDriver().map { String(cString: $0) } == "x11"
    if takesMemory { SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0") }
    let mayHelp = drawing == .byOpenGL || !takesMemory || GraphicsCard.mayExist()
    if drawing != .byProcessor, mayHelp, let renderer = SDL_CreateRenderer(window, -1, byCard) {
      if drawing == .byOpenGL || !takesMemory || !isImitated() { return renderer }
      SDL_DestroyRenderer(renderer)
    }
    return drawing == .byOpenGL ? nil : SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE.rawValue)
  }

  /// OpenGL without a card: drawing by ourselves takes less of the processor.
  private static func isImitated() -> Bool {
    guard let name = csdl_gl_renderer() else { return false }
    let text = String(cString: name)
    return ["llvmpipe", "softpipe", "swrast", "Software Rasterizer"].contains { text.contains($0) }
  }

  var size: PixelSize {
    var (width, height): (Int32, Int32) = (0, 0)
    SDL_GetRendererOutputSize(renderer, &width, &height)
    return PixelSize(width: Int(width), height: Int(height))
  }

  // MARK: Pictures

  func load(_ frame: VideoFrame, _ key: Key) throws(UnshowablePicture) -> PictureUpload {
    let texture = textures[key] ?? PictureTexture(renderer, limits, isByProcessor: isByProcessor)
    textures[key] = texture
    return try texture.load(frame)
  }

  func drop(_ key: Key) { textures[key] = nil }

  /// Forgets every remote video but these.
  func keep(_ ids: [Int]) {
    textures = textures.filter { key, _ in
      if case .remote(let id) = key { ids.contains(id) } else { true }
    }
  }

  /// The graphics card has lost them.
  func dropAll() { textures.removeAll() }

  /// The size of a picture as seen; nil when there is none.
  func pictureSize(_ key: Key) -> PixelSize? {
    guard let size = textures[key]?.shownSize, size.width > 0 else { return nil }
    return size
  }

  // MARK: Drawing

  /// - Parameter preview: where the local picture goes; nil for nowhere.
  func draw(_ videos: [(id: Int, isScreen: Bool)], preview: PixelRect?) {
    SDL_SetRenderDrawColor(renderer, 0, 0, 0, 255)
    SDL_RenderClear(renderer)
    let pictures = videos.map { (size: pictureSize(.remote($0.id)), isScreen: $0.isScreen) }
    for (index, cell) in GridLayout.cells(for: pictures, in: size).enumerated() {
      guard let picture = pictures[index].size else { continue }
      textures[.remote(videos[index].id)]?.draw(into: GridLayout.fit(picture, into: cell))
    }
    if let preview, let texture = textures[.preview] {
      let edge = Int32(2)
      var frame = SDL_Rect(
        x: Int32(preview.x) - edge, y: Int32(preview.y) - edge, w: Int32(preview.width) + 2 * edge,
        h: Int32(preview.height) + 2 * edge)
      SDL_RenderFillRect(renderer, &frame)
      texture.draw(into: preview)
    }
    SDL_RenderPresent(renderer)
  }
}

/// The card by which OpenGL would draw.
package enum GraphicsCard {
  /// The device files of graphics drivers: the kernel's own, NVIDIA's, Windows' below Linux, and those of small boards.
  private static let devices = ["dri", "nvidiactl", "dxg", "mali0", "kgsl-3d0"]

  /// False when this machine has none for sure. OpenGL then could only be imitated, and to find that out by trying takes
  /// both cores of a small machine for some hundred milliseconds, just when a call begins.
  ///
  /// - Parameter folder: where the device files are.
  package static func mayExist(folder: String = "/dev") -> Bool {
    devices.contains { access("\(folder)/\($0)", F_OK) == 0 }
  }
}
