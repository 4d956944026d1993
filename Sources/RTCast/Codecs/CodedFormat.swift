package import RTCEngine
package import RTCMedia

/// A way in which pictures can be encoded.
package struct CodedFormat: Sendable {
  package var format: VideoPayloadFormat
  package var chroma: ChromaSampling
  package var makeEncoder: VideoEncoderFactory

  package init(_ codec: VideoCodec, _ chroma: ChromaSampling, makeEncoder: @escaping VideoEncoderFactory) {
    format = VideoPayloadFormat(codec: codec, chroma: chroma)
    (self.chroma, self.makeEncoder) = (chroma, makeEncoder)
  }
}
