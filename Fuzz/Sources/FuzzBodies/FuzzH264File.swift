import RTCCapture

/// A codec's private data and two packets of a file: the rewritten packets are Annex B that is read the same again.
public func fuzzH264File(_ bytes: Span<UInt8>) {
  guard bytes.count > 1 else { return }
  let split = 1 + Int(bytes[0]) % bytes.count
  guard var rewriter = H264Rewriter(extradata: bytes.extracting(1..<split)) else { return }
  let packets = bytes.extracting(split..<bytes.count)
  rewriteH264(packets.extracting(0..<packets.count / 2), &rewriter)
  rewriteH264(packets.extracting(packets.count / 2..<packets.count), &rewriter)
}

private func rewriteH264(_ packet: Span<UInt8>, _ rewriter: inout H264Rewriter) {
  precondition(rewriter.parameterSets.count <= (32 + 256) * 4100)
  guard let picture = rewriter.rewrite(packet) else { return }
  precondition(picture.isKeyFrame == rewriter.isKeyFrame(packet))
  let none: [UInt8] = []
  var again = H264Rewriter(extradata: none.span)!
  guard let same = again.rewrite(picture.data.span) else { preconditionFailure("Annex B of ours is refused") }
  precondition(rewriter.framing != .startCodes || same.data == picture.data || picture.isKeyFrame)
}
