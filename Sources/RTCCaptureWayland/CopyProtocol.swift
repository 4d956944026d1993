import RTCCapture

/// The conversation with the compositor that leads to copies of one monitor, one after another.
protocol CopyProtocol: AnyObject {
  /// Whether the compositor reports changes.
  var hasDamage: Bool { get }

  /// How pictures of the monitor are expected to lie in their buffers; nil: the compositor tells it with each copy.
  func expectedOrientation(of output: WaylandOutput) -> PixelOrientation?

  /// Asks for a copy. The owner gets `offer` or `refuse`, perhaps within this call; or `fail`.
  func ask(for owner: OutputCopy)

  /// Has the offered copy made. The owner gets `finish` or `fail`.
  /// - Parameter isWhole: the copy is to come without waiting for a change, if the protocol has that.
  func copy(into picture: CopiedPicture, isWhole: Bool)

  /// Gives up the copy under way. Nothing is heard of it any more.
  func cancel()

  /// Gives all of the compositor's objects back. The next copy comes without waiting for a change.
  func close()
}
