import RTCCaptureX11
import RTCPrimitives

/// The title of a window, as any program on the display may set it, in each of the types that properties have.
public func fuzzWindowTitle(_ bytes: Span<UInt8>) {
  guard bytes.count > 1 else { return }
  let atoms = WindowTitleAtoms(netName: 1, utf8: 2, compoundText: 3)
  let value = [UInt8](copying: bytes.extracting(1..<bytes.count))
  let text = atoms.text(value, of: UInt32(bytes[0] & 3), isCut: bytes[0] & 4 == 4)
  // A byte becomes at most two characters, and a character at most four bytes.
  precondition(text.utf8.count <= value.count * 8 + 8, "\(text.utf8.count) bytes of \(value.count)")
}
