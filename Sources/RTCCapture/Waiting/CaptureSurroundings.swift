package import RTCMedia

/// The place in which a source may appear and from which it may go: the displays of this machine.
///
/// A waiting capturer uses it on one thread.
package protocol CaptureSurroundings: AnyObject, Sendable {
  /// Looks whether there is a source now. It must not wait.
  func find() -> CaptureFinding

  /// A descriptor that can be read when a source may have appeared; nil: only time tells.
  var descriptor: Int32? { get }

  /// Reads what made `descriptor` readable.
  /// - Returns: whether anything has changed.
  func takeChanges() -> Bool
}

/// The result of a look for a source.
package enum CaptureFinding: Sendable {
  /// There may be a source: a capturer that was not started yet, of its own for each finding.
  case capturer(any VideoCapturer)
  /// There is none, for the reason in the sentence.
  case nothing(String)
}
