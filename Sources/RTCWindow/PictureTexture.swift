import CSDL2
import RTCConvert
import RTCMedia

/// One video's newest picture where the renderer can draw it. Used on the window's thread.
final class PictureTexture {
  /// The size of the picture for display.
  private(set) var shownSize = PixelSize(width: 0, height: 0)

  private let renderer: OpaquePointer
  private let limits: PictureLimits
  /// Drawing by the processor: planes are turned to RGB in one pass here, as SDL would copy them first.
  private let isByProcessor: Bool
  private var texture: (raw: OpaquePointer, kind: Kind)?
  private var rotation = VideoRotation.none

  /// The properties of a texture; a frame of another kind needs another texture.
  private struct Kind: Equatable {
    var format: SDL_PixelFormatEnum
    var size: PixelSize
    /// OpenGL's shader is chosen when the texture is made.
    var matrix: SDL_YUV_CONVERSION_MODE
  }

  init(_ renderer: OpaquePointer, _ limits: PictureLimits, isByProcessor: Bool) {
    self.renderer = renderer
    self.limits = limits
    self.isByProcessor = isByProcessor
  }

  deinit { drop() }

  /// Uploads the picture; the frame is not needed afterwards.
  /// - Returns: the form in which it was passed to the renderer.
  /// - Throws: the reason why it cannot be shown; the picture before is then gone.
  func load(_ frame: VideoFrame) throws(UnshowablePicture) -> PictureUpload {
    do throws(UnshowablePicture) {
      try limits.check(frame.size)
      let texture = try texture(for: frame)
      guard let format = upload(frame, to: texture) else { throw UnshowablePicture(reason: SDL.error) }
      (rotation, shownSize) = (frame.rotation, frame.shownSize)
      return PictureUpload(from: frame.buffer.format, to: format)
    } catch {
      drop()
      throw error
    }
  }

  func draw(into place: PixelRect) {
    guard let texture else { return }
    // SDL rotates the content of a rectangle about its middle: the rectangle is that of the unrotated picture.
    let isUpright = rotation == .none || rotation == .half
    let (width, height) = isUpright ? (place.width, place.height) : (place.height, place.width)
    var target = SDL_FRect(
      x: Float(place.x) + Float(place.width - width) / 2, y: Float(place.y) + Float(place.height - height) / 2,
      w: Float(width), h: Float(height))
    if rotation == .none {
      SDL_RenderCopyF(renderer, texture.raw, nil, &target)
    } else {
      SDL_RenderCopyExF(renderer, texture.raw, nil, &target, Double(rotation.rawValue), nil, SDL_FLIP_NONE)
    }
  }

  private func drop() {
    if let texture { SDL_DestroyTexture(texture.raw) }
    texture = nil
    shownSize = PixelSize(width: 0, height: 0)
  }

  // MARK: From frame to texture

  private func texture(for frame: VideoFrame) throws(UnshowablePicture) -> OpaquePointer {
    let wanted = Kind(
      format: format(for: frame), size: frame.size, matrix: Self.matrix(of: frame) ?? SDL_YUV_CONVERSION_JPEG)
    if let texture, texture.kind == wanted { return texture.raw }
    drop()
    SDL_SetYUVConversionMode(wanted.matrix)
    guard
      let raw = SDL_CreateTexture(
        renderer, wanted.format.rawValue, Int32(SDL_TEXTUREACCESS_STREAMING.rawValue), Int32(frame.size.width),
        Int32(frame.size.height))
    else { throw UnshowablePicture(reason: SDL.error) }
    SDL_SetTextureBlendMode(raw, SDL_BLENDMODE_NONE)
    SDL_SetTextureScaleMode(raw, SDL_ScaleModeLinear)
    texture = (raw, wanted)
    return raw
  }

  private func takesPlanes(of frame: VideoFrame) -> Bool { !isByProcessor && Self.matrix(of: frame) != nil }

  private func format(for frame: VideoFrame) -> SDL_PixelFormatEnum {
    switch frame.buffer.format {
    case .i420 where takesPlanes(of: frame): SDL_PIXELFORMAT_IYUV
    case .nv12 where takesPlanes(of: frame): SDL_PIXELFORMAT_NV12
    // In memory order B, G, R, X and R, G, B, X: SDL names a word from its high end.
    case .bgra, .i420, .nv12, .i444: SDL_PIXELFORMAT_RGB888
    case .rgba: SDL_PIXELFORMAT_BGR888
    }
  }

  /// Nil where SDL has none: such planes are turned to RGB here.
  private static func matrix(of frame: VideoFrame) -> SDL_YUV_CONVERSION_MODE? {
    switch (frame.colorSpace.matrix, frame.colorSpace.range) {
    case (.bt601, .limited): SDL_YUV_CONVERSION_BT601
    case (.bt709, .limited): SDL_YUV_CONVERSION_BT709
    case (.bt601, .full), (.rgb, _): SDL_YUV_CONVERSION_JPEG
    case (.bt709, .full): nil
    }
  }

  /// - Returns: the format of the pixels that SDL was given; nil when it refused them.
  private func upload(_ frame: VideoFrame, to texture: OpaquePointer) -> PixelFormat? {
    let buffer = frame.buffer
    switch buffer.format {
    case .bgra, .rgba: return uploadPacked(buffer, to: texture) ? buffer.format : nil
    case .i420 where takesPlanes(of: frame): return uploadPlanes(buffer, to: texture) ? .i420 : nil
    case .nv12 where takesPlanes(of: frame): return uploadInterleaved(buffer, to: texture) ? .nv12 : nil
    case .i420, .nv12, .i444: return convert(frame, into: texture) ? .bgra : nil
    }
  }

  private func uploadPlanes(_ buffer: PixelBuffer, to texture: OpaquePointer) -> Bool {
    let (y, u, v) = (Plane(buffer, 0), Plane(buffer, 1), Plane(buffer, 2))
    return SDL_UpdateYUVTexture(texture, nil, y.base, y.stride, u.base, u.stride, v.base, v.stride) == 0
  }

  private func uploadInterleaved(_ buffer: PixelBuffer, to texture: OpaquePointer) -> Bool {
    let (y, uv) = (Plane(buffer, 0), Plane(buffer, 1))
    if uv.stride % 2 == 0 {
      return SDL_UpdateNVTexture(texture, nil, y.base, y.stride, uv.base, uv.stride) == 0
    }
    // OpenGL counts the stride in pairs: two rows of the picture and one of chroma at a time.
    return eachBand(of: buffer.size, rows: 2) { band, row in
      SDL_UpdateNVTexture(
        texture, &band, y.base + row * Int(y.stride), y.stride, uv.base + row / 2 * Int(uv.stride),
        (uv.stride + 1) / 2 * 2)
    }
  }

  private func uploadPacked(_ buffer: PixelBuffer, to texture: OpaquePointer) -> Bool {
    let plane = Plane(buffer, 0)
    if plane.stride % 4 == 0 { return SDL_UpdateTexture(texture, nil, plane.base, plane.stride) == 0 }
    // OpenGL counts the stride in pixels.
    return eachBand(of: buffer.size, rows: 1) { band, row in
      SDL_UpdateTexture(texture, &band, plane.base + row * Int(plane.stride), band.w * 4)
    }
  }

  private func eachBand(of size: PixelSize, rows: Int, _ body: (inout SDL_Rect, Int) -> Int32) -> Bool {
    for row in stride(from: 0, to: size.height, by: rows) {
      var band = SDL_Rect(x: 0, y: Int32(row), w: Int32(size.width), h: Int32(min(rows, size.height - row)))
      guard body(&band, row) == 0 else { return false }
    }
    return true
  }

  private func convert(_ frame: VideoFrame, into texture: OpaquePointer) -> Bool {
    var pixels: UnsafeMutableRawPointer?
    var stride: Int32 = 0
    guard SDL_LockTexture(texture, nil, &pixels, &stride) == 0, let pixels else { return false }
    defer { SDL_UnlockTexture(texture) }
    do throws(ConversionError) {
      try unpackToBGRA(frame, at: pixels.assumingMemoryBound(to: UInt8.self), stride: Int(stride))
      return true
    } catch {
      return false
    }
  }

  private struct Plane {
    let base: UnsafePointer<UInt8>
    let stride: Int32

    init(_ buffer: PixelBuffer, _ index: Int) {
      let plane = buffer.unsafePlane(index)
      base = plane.base.assumingMemoryBound(to: UInt8.self)
      stride = Int32(plane.stride)
    }
  }
}

/// The largest picture that a texture is made for.
struct PictureLimits {
  /// 8K in both common shapes; keeps one video to some 150 MB of texture.
  private static let mostPixels = 8192 * 4608

  let width: Int
  let height: Int

  /// - Parameter renderer: its own limits count where it has any.
  init(_ renderer: SDL_RendererInfo) {
    width = renderer.max_texture_width > 0 ? Int(renderer.max_texture_width) : 16384
    height = renderer.max_texture_height > 0 ? Int(renderer.max_texture_height) : 16384
  }

  func check(_ size: PixelSize) throws(UnshowablePicture) {
    guard size.width <= width, size.height <= height, size.width * size.height <= Self.mostPixels else {
      throw UnshowablePicture(reason: "it has \(size) pixels, and 8192x4608 is the most; send a smaller picture")
    }
  }
}

/// Why a picture is not on the screen.
struct UnshowablePicture: Error {
  /// The end of a sentence.
  var reason: String
}
