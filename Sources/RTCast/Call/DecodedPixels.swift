import Glibc
import RTCPlayout

/// How many pixels remote peers may have decoded at a time, see `PictureBudget`.
enum DecodedPixels {
  /// The limit for one remote peer: twice 4K.
  static let ofPeer = 2 * 3_840 * 2_160
  /// The limit for all remote peers together: a quarter of the machine's memory.
  static let ofProcess = PictureBudget(pixels: memory / 4 / PictureBudget.bytesForPixel)

  /// A budget for one remote peer.
  static func budget() -> PictureBudget { PictureBudget(pixels: ofPeer, within: ofProcess) }

  /// The machine's memory in bytes; 1 GiB when the system does not say.
  private static var memory: Int {
    let (bytes, overflow) = sysconf(Int32(_SC_PHYS_PAGES)).multipliedReportingOverflow(by: sysconf(Int32(_SC_PAGESIZE)))
    return bytes > 0 && !overflow ? bytes : 1 << 30
  }
}
