/// The kinds of messages that every child's channel has.
package enum ChannelMessage {
  /// Parent to child: nobody reads the picture in a slot any more.
  package static let release: UInt8 = 3
  /// Child to parent, with a descriptor: memory for a slot, in place of what was there.
  package static let segment: UInt8 = 4
  /// Child to parent: a picture (`SharedPicture`).
  package static let picture: UInt8 = 5
}
