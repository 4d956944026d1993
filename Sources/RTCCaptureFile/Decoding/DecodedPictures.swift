internal import RTCPrimitives

/// What a decoder made.
struct DecodedPictures {
  /// To be shown, in order.
  var items: [PictureItem] = []
  /// Frames that came of the decoder, shown or not.
  var made = 0
  /// The time of the last of them.
  var newest: TimeDelta?
}
