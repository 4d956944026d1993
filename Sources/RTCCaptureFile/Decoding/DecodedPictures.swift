internal import RTCPrimitives

/// The output of a picture decoder.
struct DecodedPictures {
  /// The pictures to show, in order.
  var items: [PictureItem] = []
  /// The number of frames that the decoder produced, shown or not.
  var made = 0
  /// The media time of the newest of these frames.
  var newest: TimeDelta?
}
