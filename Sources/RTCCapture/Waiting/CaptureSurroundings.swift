package import RTCMedia

/// The place in which a source may appear and from which it may go: the displays of this machine, or its desktops.
///
/// A waiting capturer uses it on one thread.
package protocol CaptureSurroundings: AnyObject, Sendable {
  /// Looks whether there is a source now. It waits two seconds at most, for a desktop that does not answer.
  func find() -> CaptureFinding

  /// Descriptors that can be read when a source may have appeared; none: only time tells.
  var descriptors: [Int32] { get }

  /// Reads what made a descriptor readable.
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
