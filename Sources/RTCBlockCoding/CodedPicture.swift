/// A picture as a `BlockCoder` coded it.
package struct CodedPicture {
  /// The bytes of the picture, as in `EncodedFrame.data`.
  package var data: [UInt8]
  /// Whether the picture needs no other picture.
  package var isKeyFrame: Bool

  /// Creates a coded picture from the result of one call of the codec.
  package init(data: [UInt8], isKeyFrame: Bool) {
    self.data = data
    self.isKeyFrame = isKeyFrame
  }
}
