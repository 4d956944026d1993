/// What a `BlockCoder` made of a picture.
package struct CodedPicture {
  /// As `EncodedFrame.data`.
  package var data: [UInt8]
  /// It needs no other picture.
  package var isKeyFrame: Bool

  /// What one call gave.
  package init(data: [UInt8], isKeyFrame: Bool) {
    self.data = data
    self.isKeyFrame = isKeyFrame
  }
}
