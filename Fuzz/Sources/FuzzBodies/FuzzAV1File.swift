import RTCCaptureFile

/// A codec's private data and two packets of a file: rewritten packets can be parsed again.
public func fuzzAV1File(_ bytes: Span<UInt8>) {
  guard bytes.count > 1 else { return }
  let split = 1 + Int(bytes[0]) % bytes.count
  var rewriter = AV1Rewriter(extradata: bytes.extracting(1..<split))
  let packets = bytes.extracting(split..<bytes.count)
  rewriteAV1(packets.extracting(0..<packets.count / 2), &rewriter)
  rewriteAV1(packets.extracting(packets.count / 2..<packets.count), &rewriter)
}

private func rewriteAV1(_ packet: Span<UInt8>, _ rewriter: inout AV1Rewriter) {
  guard let picture = rewriter.rewrite(packet) else { return }
  guard let again = rewriter.rewrite(picture.data.span) else { preconditionFailure("OBUs of ours are refused") }
  // A sequence header that came after the frame may come before it now.
  precondition(again.data.count >= picture.data.count)
}
