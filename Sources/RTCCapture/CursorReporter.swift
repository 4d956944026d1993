package import RTCMedia

/// Reports to one consumer what has changed of the pointer.
package struct CursorReporter {
  package let consumer: any CursorConsumer
  private var drawing: CursorDrawing?
  /// The number of the image.
  private var image: Int?
  /// Nil: it was told none yet.
  private var position: CursorPosition??

  /// The consumer knows nothing yet.
  package init(_ consumer: any CursorConsumer) { self.consumer = consumer }

  /// - Parameter newPosition: nil: nothing of the pointer is in the picture.
  package mutating func tell(position newPosition: CursorPosition?) {
    guard position != .some(newPosition) else { return }
    position = .some(newPosition)
    consumer.consume(.position(newPosition))
  }

  package mutating func tell(_ newDrawing: CursorDrawing) {
    guard drawing != newDrawing else { return }
    // Positions are told anew each time that the consumer begins to draw.
    if newDrawing.isDrawn { position = nil }
    drawing = newDrawing
    consumer.consume(.drawing(newDrawing))
  }

  package mutating func tell(_ newImage: CursorImage, number: Int) {
    guard image != number else { return }
    image = number
    consumer.consume(.image(newImage))
  }
}
