import RTCCaptureFile

/// Three packets of a file, hidden frames and superframes among them.
public func fuzzVP9File(_ bytes: Span<UInt8>) {
  var rewriter = VP9Rewriter()
  let third = bytes.count / 3
  for packet in 0..<3 {
    let end = packet == 2 ? bytes.count : (packet + 1) * third
    guard case .picture(let picture) = rewriter.rewrite(bytes.extracting(packet * third..<end)) else { continue }
    precondition(!picture.data.isEmpty && picture.data.count <= 2 * bytes.count + 64)
    precondition(picture.isKeyFrame == (picture.size != nil))
  }
}
