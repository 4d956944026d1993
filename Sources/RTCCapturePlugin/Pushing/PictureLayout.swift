import Glibc
import RTCMedia

/// How the planes of a picture lie in one piece of memory: rows and planes on multiples of 64 bytes.
struct PictureLayout {
  var planes: [(offset: Int, stride: Int)] = []
  var byteCount = 0

  init(_ format: PixelFormat, _ size: PixelSize) {
    for index in 0..<format.planeCount {
      let extent = format.planeExtent(index, of: size)
      let stride = (extent.rowBytes + 63) / 64 * 64
      planes.append((byteCount, stride))
      byteCount += stride * extent.rows
    }
  }
}
